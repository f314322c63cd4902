// SPDX-License-Identifier: BSD-3-Clause
// Virtual time with functions as events.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "simulation/engine/events.h"

namespace omx::simulation::nic {

class Scheduler final : public EventTarget {
 public:
  TimeNs now() const { return events_.now(); }
  bool step() { return events_.step(); }

  void at(TimeNs time, std::function<void()> what) {
    std::uint64_t slot = slots_.size();
    if (free_.empty()) {
      slots_.emplace_back(std::move(what));
    } else {
      slot = free_.back();
      free_.pop_back();
      slots_[slot] = std::move(what);
    }
    events_.schedule(time, *this, slot);
  }
  void after(double ns, std::function<void()> what) {
    at(now() + static_cast<TimeNs>(ns > 0 ? ns + 0.5 : 0), std::move(what));
  }

  void on_event(std::uint64_t slot) override {
    const std::function<void()> what = std::exchange(slots_[slot], nullptr);
    free_.push_back(slot);
    what();
  }

 private:
  EventQueue events_;
  std::vector<std::function<void()>> slots_;
  std::vector<std::uint64_t> free_;
};

}  // namespace omx::simulation::nic
