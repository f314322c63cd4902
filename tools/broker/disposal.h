// SPDX-License-Identifier: BSD-3-Clause
// Closes connections whose closing may take long. With a connection the kernel closes the descriptors that
// lie in it, and what that takes is up to the user who sent them (SO_LINGER, file systems in user space).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/own_fd.h"

namespace omx::broker {

class Disposal {
 public:
  // Closes a connection of this user in a thread of its own. Its place counts as the user's until then.
  void close(uid_t uid, OwnFd socket) { begin(uid, true, std::move(socket)); }
  // Closes a connection that has no place.
  void close_refused(OwnFd socket) { begin(0, false, std::move(socket)); }
  // Returns the users of places that are free now, one for each.
  std::vector<uid_t> done();
  bool empty() const { return closing_.empty(); }

 private:
  // Connections beyond these wait. Only hostile ones are here, so no other user waits.
  static constexpr std::size_t kThreadsMost = 16;
  struct Socket {
    OwnFd fd;
    std::atomic<bool> closed = false;
  };
  struct Closing {
    uid_t uid = 0;
    bool has_place = false;
    bool started = false;
    std::shared_ptr<Socket> socket;
  };
  void begin(uid_t uid, bool has_place, OwnFd socket);
  void start_some();

  std::vector<Closing> closing_;
};

}  // namespace omx::broker
