// SPDX-License-Identifier: BSD-3-Clause
// An eventfd that is readable from signal() to clear(). FI_WAIT_FD gives it to the application. Thread-safe
// after open().
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/no_cancel.h"
#include "base/own_fd.h"

namespace omx::fabric {

class WaitEvent {
 public:
  // Returns false when no descriptor is left.
  bool open() {
    fd_ = OwnFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return fd_.open();
  }
  int descriptor() const { return fd_.get(); }
  void signal() {
    const NoCancel no_cancel;
    const std::uint64_t one = 1;
    // The write fails only when the eventfd is readable already.
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
