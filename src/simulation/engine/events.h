// SPDX-License-Identifier: BSD-3-Clause
// Virtual time: a queue of future events. Events of the same instant happen in the order in which they were
// scheduled, so that a run depends only on its seed.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "protocol/types.h"

namespace omx::simulation {

using protocol::TimeNs;

// An object that events happen to. `argument` is the one given to schedule().
class EventTarget {
 public:
  virtual void on_event(std::uint64_t argument) = 0;

 protected:
  ~EventTarget() = default;
};

class EventQueue {
 public:
  TimeNs now() const { return now_; }
  bool empty() const { return heap_.empty(); }
  TimeNs next() const { return heap_.empty() ? protocol::kNever : heap_.top().at; }
  std::uint64_t happened() const { return happened_; }

  // Schedules an event, not before now. The target must outlive the event.
  void schedule(TimeNs at, EventTarget& target, std::uint64_t argument) {
    heap_.push({at < now_ ? now_ : at, sequence_++, &target, argument});
  }

  // Runs the next event. Returns false when there is none until `end`.
  bool step(TimeNs end = protocol::kNever) {
    if (heap_.empty() || heap_.top().at > end) return false;
    const Event event = heap_.top();
    heap_.pop();
    now_ = event.at;
    happened_++;
    event.target->on_event(event.argument);
    return true;
  }
  // Advances the time when no event comes before it.
  void skip_to(TimeNs time) {
    if (time > now_ && time <= next()) now_ = time;
  }

 private:
  struct Event {
    TimeNs at;
    std::uint64_t sequence;
    EventTarget* target;
    std::uint64_t argument;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : sequence > other.sequence;
    }
  };

  std::priority_queue<Event> heap_;
  TimeNs now_ = protocol::kMillisecond;  // 0 means "never yet" in some places
  std::uint64_t sequence_ = 0;
  std::uint64_t happened_ = 0;
};

}  // namespace omx::simulation
