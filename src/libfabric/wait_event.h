// SPDX-License-Identifier: BSD-3-Clause
// An eventfd: readable from signal() to clear(). What FI_WAIT_FD gives to the application.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/no_cancel.h"
#include "base/own_fd.h"

namespace omx::fabric {

class WaitEvent {
 public:
  // False: no descriptors left.
  bool open() {
    fd_ = OwnFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return fd_.open();
  }
  int descriptor() const { return fd_.get(); }
  void signal() {
    const NoCancel no_cancel;
    const std::uint64_t one = 1;
    // Fails only when it is readable already.
    [[maybe_unused]] const ssize_t written = ::write(fd_.get(), &one, sizeof one);
  }
  void clear() {
    const NoCancel no_cancel;
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t size = ::read(fd_.get(), &count, sizeof count);
  }

 private:
  OwnFd fd_;
};

}  // namespace omx::fabric
