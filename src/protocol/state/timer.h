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

struct Timer {
  TimeNs deadline = kNever;
  std::uint32_t position = 0;  // in the heap, from 1; 0 = not armed
  TimerKind kind;

  explicit Timer(TimerKind k) : kind(k) {}
  bool armed() const { return position != 0; }
};

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

  TimeNs next() const { return heap_.empty() ? kNever : heap_.front()->deadline; }

  // Arms the timer for `deadline`, unless it is armed for an earlier time.
  void arm_by(Timer& timer, TimeNs deadline) {
    if (timer.armed() && timer.deadline <= deadline) return;
    if (deadline == kNever) return;
    timer.deadline = deadline;
    if (!timer.armed()) {
      heap_.push_back(&timer);
      timer.position = static_cast<std::uint32_t>(heap_.size());
    }
    sift_up(timer.position);
  }

  void cancel(Timer& timer) {
    if (!timer.armed()) return;
    const std::uint32_t hole = timer.position;
    timer.position = 0;
    Timer* last = heap_.back();
    heap_.pop_back();
    if (last == &timer) return;
    place(last, hole);
    sift_up(hole);
    sift_down(last->position);
  }

  // Disarms and returns the earliest timer if it is due; returns nullptr otherwise.
  Timer* pop_due(TimeNs now) {
    if (heap_.empty() || heap_.front()->deadline > now) return nullptr;
    Timer* timer = heap_.front();
    cancel(*timer);
    return timer;
  }

 private:
  void place(Timer* timer, std::uint32_t position) {
    heap_[position - 1] = timer;
    timer->position = position;
  }
  void sift_up(std::uint32_t position) {
    Timer* timer = heap_[position - 1];
    while (position > 1 && heap_[position / 2 - 1]->deadline > timer->deadline) {
      place(heap_[position / 2 - 1], position);
      position /= 2;
    }
    place(timer, position);
  }
  void sift_down(std::uint32_t position) {
    Timer* timer = heap_[position - 1];
    const auto size = static_cast<std::uint32_t>(heap_.size());
    for (;;) {
      std::uint32_t child = position * 2;
      if (child > size) break;
      if (child < size && heap_[child]->deadline < heap_[child - 1]->deadline) child++;
      if (heap_[child - 1]->deadline >= timer->deadline) break;
      place(heap_[child - 1], position);
      position = child;
    }
    place(timer, position);
  }

  std::vector<Timer*> heap_;
};

}  // namespace omx::protocol
