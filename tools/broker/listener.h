// SPDX-License-Identifier: BSD-3-Clause
// The socket that clients connect to, and what systemd is told.
#pragma once

#include <string>
#include <string_view>

#include "base/expected.h"
#include "base/own_fd.h"
#include "tools/broker/policy.h"

namespace omx::broker {

// Returns whether a process listens at the path, as another broker does.
bool broker_answers(const std::string& path);

class Listener {
 public:
  // Takes the socket that systemd made (LISTEN_FDS), or makes one as the policy says. Fails if another broker
  // listens there.
  static Result<Listener> open(const Policy& policy);
  Listener(Listener&&) = default;
  Listener& operator=(Listener&&) = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();  // removes a socket that open() made

  OwnFd take() { return std::move(fd_); }
  const std::string& path() const { return path_; }  // empty: systemd's

 private:
  Listener(OwnFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  OwnFd fd_;
  std::string path_;
};

// Gives a listening socket the group and the permissions that the policy says.
Result<void> listener_rights_set(int fd, const Policy& policy);

// Tells systemd about the state of the service (sd_notify): "READY=1" ... Does nothing without systemd.
void service_manager_tell(std::string_view state);

}  // namespace omx::broker
