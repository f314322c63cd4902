// SPDX-License-Identifier: BSD-3-Clause
// A network namespace that holds the interface of sealed sockets and nothing else. The thread that makes it
// or opens it stays in its own.
#pragma once

#include <functional>
#include <string>

#include "base/expected.h"
#include "base/own_fd.h"

namespace omx::broker {

class PrivateNetwork {
 public:
  // Makes a namespace that lives as long as this object, its sockets, and the threads in it.
  static Result<PrivateNetwork> make();
  // Makes a namespace that also lives as long as it is mounted at `path`. Makes the folders above the path.
  static Result<PrivateNetwork> make_at(const std::string& path);
  // Opens the namespace that is mounted there. The failure is kNoDevice when there is none.
  static Result<PrivateNetwork> open(const std::string& path);

  // Returns the namespace of the calling thread, for sockets on the host's own interfaces.
  static Result<PrivateNetwork> own();

  // Unmounts the namespace. The kernel removes it with its interfaces once its last socket is closed.
  Result<void> remove();

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }  // empty: not mounted

 private:
  explicit PrivateNetwork(OwnFd fd, std::string path = {}) : fd_(std::move(fd)), path_(std::move(path)) {}

  OwnFd fd_;
  std::string path_;
};

// Runs `work` in the namespace, on a thread of its own, and waits for its end. Returns 0, or the errno that
// kept the thread from starting or entering; then `work` did not run.
int run_in(const PrivateNetwork& network, const std::function<void()>& work);

}  // namespace omx::broker
