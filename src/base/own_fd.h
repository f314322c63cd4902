// SPDX-License-Identifier: BSD-3-Clause
// A descriptor that belongs to this process alone. A forked child must not keep it open: as long as it does,
// an endpoint id stays taken, and a packet socket goes on filling, after the parent has closed it or died.
#pragma once

#include <utility>

namespace omx {

class OwnFd {
 public:
  OwnFd() = default;
  // Takes what a system call returned; negative: none. Leaves errno alone.
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

// In the child of a fork: replaces each by /dev/null, so that the numbers stay taken and their owners may be
// destroyed as usual. Async-signal-safe. Numbers from 65536 on are not known and stay open.
void own_fds_drop();

}  // namespace omx
