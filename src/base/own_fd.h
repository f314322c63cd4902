// SPDX-License-Identifier: BSD-3-Clause
// A descriptor that belongs to this process alone. A forked child must not keep it open. While a child does,
// an endpoint id stays taken and a packet socket keeps filling, even after the parent closed it or died.
#pragma once

#include <utility>

namespace omx {

class OwnFd {
 public:
  OwnFd() = default;
  // Takes what a system call returned, which is negative if the call failed. Leaves errno alone.
  explicit OwnFd(int fd);
  OwnFd(OwnFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnFd& operator=(OwnFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    if (this != &other) other.reset();
    return *this;
  }
  OwnFd(const OwnFd&) = delete;
  OwnFd& operator=(const OwnFd&) = delete;
  ~OwnFd() { reset(); }

  bool open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  void reset();  // closes it

 private:
  int fd_ = -1;
};

// Replaces each descriptor by /dev/null in the child of a fork. So the numbers stay taken, and their owners
// may be destroyed as usual. Async-signal-safe. Numbers from 65536 on are not tracked and stay open.
void own_fds_drop();

}  // namespace omx
