// SPDX-License-Identifier: BSD-3-Clause
// The descriptors that wake a hub, as one to sleep on.
#pragma once

#include <sys/epoll.h>

#include <span>

#include "base/own_fd.h"

namespace omx::local {

// Not thread-safe.
class DescriptorSet {
 public:
  DescriptorSet();

  // Returns the descriptor that is readable while one of the set is.
  int descriptor() const { return epoll_.get(); }
  // Adds a descriptor, which leaves the set when it is closed. Returns false, with errno, when it cannot be
  // added. Then it does not wake the hub.
  bool add(int fd);
  void remove(int fd);
  // Makes a descriptor of the set wake the hub, or not.
  void mask(int fd, bool masked);
  // Fills in the descriptors that have something, and returns how many there are. Does not wait.
  int ready(std::span<epoll_event> events);

 private:
  OwnFd epoll_;
};

}  // namespace omx::local
