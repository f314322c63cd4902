// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/park_slot.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cassert>
#include <cstdint>

#include "base/no_cancel.h"

namespace omx::runtime {

bool ParkSlot::open() {
  event_ = OwnFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return event_.open();
}

void ParkSlot::begin(TimeNs until) {
  assert(event_.open());
  assert(!taken_);
  taken_ = true;
  woken_ = false;
  until_ = until;
}

void ParkSlot::wake() {
  if (woken_) return;
  woken_ = true;
  const NoCancel no_cancel;
  const std::uint64_t one = 1;
  // The write cannot fail: the counter is far from full.
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
}

void ParkSlot::event_clear() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t size = ::read(event_.get(), &count, sizeof count);
}

}  // namespace omx::runtime
