// SPDX-License-Identifier: BSD-3-Clause
// Deadlines in a binary heap. Timers are lazy: the hot path only makes sure that one is armed early enough.
// The handler decides what is really due when it fires, so acknowledgements need not disarm anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol/types.h"

namespace omx::protocol {

enum class TimerKind : std::uint8_t { ack, resend, pull, pull_schedule };

// A timer takes four bytes, because a large job has many idle peers. The heap has its deadline.
struct Timer {
  std::uint32_t position : 30;  // in the heap, from 1; 0 = not armed
  TimerKind kind : 2;

  explicit Timer(TimerKind k) : position(0), kind(k) {}
  bool armed() const { return position != 0; }
};
static_assert(sizeof(Timer) == 4);

// Returns the object that a timer is a member of.
template <class T, Timer T::*Member>
T* timer_owner(Timer* timer) {
  alignas(T) static std::byte base[sizeof(T)];
  T* origin = reinterpret_cast<T*>(base);
  const auto offset = reinterpret_cast<std::byte*>(&(origin->*Member)) - base;
  return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(timer) - offset);
}

class TimerHeap {
 public:
  TimerHeap() { heap_.reserve(64); }

  TimeNs next() const { return heap_.empty() ? kNever : heap_.front().deadline; }
  // Returns the deadline of a timer; kNever: it is not armed.
  TimeNs deadline(const Timer& timer) const {
    return timer.armed() ? heap_[timer.position - 1].deadline : kNever;
  }

  // Arms the timer for `deadline`, unless it is armed for an earlier time.
  void arm_by(Timer& timer, TimeNs deadline) {
    if (timer.armed()) {
      TimeNs& armed_for = heap_[timer.position - 1].deadline;
      if (armed_for <= deadline) return;
      armed_for = deadline;
      sift_up(timer.position);
    } else if (deadline != kNever) {
      heap_.push_back({deadline, &timer});
      sift_up(last());
    }
  }

  void cancel(Timer& timer) {
    if (!timer.armed()) return;
    const std::uint32_t hole = timer.position;
    timer.position = 0;
    const Armed moved = heap_.back();
    heap_.pop_back();
    if (moved.timer == &timer) return;
    place(moved, hole);
    sift_up(hole);
    sift_down(moved.timer->position);
  }

  // Disarms and returns the earliest timer if it is due; returns nullptr otherwise.
  Timer* pop_due(TimeNs now) {
    if (heap_.empty() || heap_.front().deadline > now) return nullptr;
    Timer* timer = heap_.front().timer;
    cancel(*timer);
    return timer;
  }

 private:
  static constexpr std::uint32_t kPositions = (1U << 30) - 1;

  struct Armed {
    TimeNs deadline;
    Timer* timer;
  };

  std::uint32_t last() const { return static_cast<std::uint32_t>(heap_.size()) & kPositions; }
  void place(const Armed& armed, std::uint32_t position) {
    heap_[position - 1] = armed;
    armed.timer->position = position & kPositions;
  }
  void sift_up(std::uint32_t position) {
    const Armed armed = heap_[position - 1];
    while (position > 1 && heap_[position / 2 - 1].deadline > armed.deadline) {
      place(heap_[position / 2 - 1], position);
      position /= 2;
    }
    place(armed, position);
  }
  void sift_down(std::uint32_t position) {
    const Armed armed = heap_[position - 1];
    const std::uint32_t size = last();
    for (;;) {
      std::uint32_t child = position * 2;
      if (child > size) break;
      if (child < size && heap_[child].deadline < heap_[child - 1].deadline) child++;
      if (heap_[child - 1].deadline >= armed.deadline) break;
      place(heap_[child - 1], position);
      position = child;
    }
    place(armed, position);
  }

  std::vector<Armed> heap_;
};

}  // namespace omx::protocol
