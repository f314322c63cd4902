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

  std::size_t bytes() const { return heap_.capacity() * sizeof(Armed); }
  TimeNs next() const { return next_; }
  // Returns the deadline of a timer; kNever: it is not armed.
  TimeNs deadline(const Timer& timer) const { return heap_[timer.position].deadline; }

  // Arms the timer for `when`, unless it is armed for an earlier time.
  void arm_by(Timer& timer, TimeNs when) {
    if (deadline(timer) > when) arm(timer, when);
  }

  // Arms the timer for `when`, even if it is armed for an earlier time.
  void move(Timer& timer, TimeNs when) {
    cancel(timer);
    arm_by(timer, when);
  }

  void cancel(Timer& timer) {
    if (!timer.armed()) return;
    const std::uint32_t hole = timer.position;
    timer.position = 0;
    const Armed moved = heap_.back();
    heap_.pop_back();
    if (moved.timer != &timer) {
      place(moved, hole);
      sift_up(hole);
      sift_down(moved.timer->position);
    }
    next_update();
  }

  // Returns the earliest timer; nullptr: none is armed.
  Timer* first() const { return heap_.size() > 1 ? heap_[1].timer : nullptr; }

  // Disarms and returns the earliest timer if it is due; returns nullptr otherwise.
  Timer* pop_due(TimeNs now) {
    if (next_ > now || heap_.size() == 1) return nullptr;
    Timer* timer = heap_[1].timer;
    cancel(*timer);
    return timer;
  }

 private:
  static constexpr std::uint32_t kPositions = (1U << 30) - 1;

  struct Armed {
    TimeNs deadline;
    Timer* timer;
  };

  [[gnu::noinline]] void arm(Timer& timer, TimeNs when) {
    if (timer.armed()) {
      heap_[timer.position].deadline = when;
      sift_up(timer.position);
    } else {
      heap_.push_back({when, &timer});
      sift_up(last());
    }
    next_update();
  }
  void next_update() { next_ = heap_.size() > 1 ? heap_[1].deadline : kNever; }

  std::uint32_t last() const { return static_cast<std::uint32_t>(heap_.size() - 1) & kPositions; }
  void place(const Armed& armed, std::uint32_t position) {
    heap_[position] = armed;
    armed.timer->position = position & kPositions;
  }
  void sift_up(std::uint32_t position) {
    const Armed armed = heap_[position];
    while (position > 1 && heap_[position / 2].deadline > armed.deadline) {
      place(heap_[position / 2], position);
      position /= 2;
    }
    place(armed, position);
  }
  void sift_down(std::uint32_t position) {
    const Armed armed = heap_[position];
    const std::uint32_t size = last();
    for (;;) {
      std::uint32_t child = position * 2;
      if (child > size) break;
      if (child < size && heap_[child + 1].deadline < heap_[child].deadline) child++;
      if (heap_[child].deadline >= armed.deadline) break;
      place(heap_[child], position);
      position = child;
    }
    place(armed, position);
  }

  // The first entry is that of every timer that is not armed, so the hot path asks for a deadline without a
  // branch.
  std::vector<Armed> heap_{{kNever, nullptr}};
  TimeNs next_ = kNever;  // the earliest deadline
};

}  // namespace omx::protocol
