// SPDX-License-Identifier: BSD-3-Clause
// A core does one thing at a time. Work for interrupts goes first. Pieces of work last for one frame at most
// and are not interrupted, but computing is. A core without work falls asleep unless a process polls on it.
#pragma once

#include <deque>
#include <functional>

#include "simulation/nic/parameters.h"
#include "simulation/nic/scheduler.h"

namespace omx::simulation::nic {

struct Work {
  std::function<double()> cost;  // in ns, called when the work begins
  std::function<void()> done;
  bool computing = false;  // gives way to interrupts
};

class Core {
 public:
  Core(Scheduler& scheduler, const Parameters& parameters) : scheduler_(scheduler), parameters_(parameters) {}

  void interrupted_by(Work work) {
    interrupts_.push_back(std::move(work));
    give_way();
    begin();
  }
  void asked_by_process(Work work) {
    processes_.push_back(std::move(work));
    begin();
  }

  bool polled = false;  // a process polls without end, so the core never sleeps
  // Returns whether the core was without work for so long that it sleeps, if it may.
  bool idle() const {
    return !polled && !busy_ &&
           scheduler_.now() >= idle_since_ + static_cast<TimeNs>(parameters_.sleep_after_ns);
  }
  double interrupt_ns() const { return interrupt_ns_; }
  double process_ns() const { return process_ns_; }

 private:
  void begin() {
    if (busy_ || (interrupts_.empty() && processes_.empty())) return;
    const bool interrupt = !interrupts_.empty();
    auto& from = interrupt ? interrupts_ : processes_;
    Work work = std::move(from.front());
    from.pop_front();
    busy_ = true;
    double cost = work.cost();
    if (!interrupt && was_interrupt_) cost += parameters_.resume_ns;
    was_interrupt_ = interrupt;
    (interrupt ? interrupt_ns_ : process_ns_) += cost;
    ends_ = scheduler_.now() + static_cast<TimeNs>(cost + 0.5);
    if (work.computing) computed_ = std::move(work.done);
    computes_ = work.computing;
    scheduler_.after(cost, [this, turn = ++turn_, done = std::move(work.done)] {
      if (turn != turn_) return;  // it was interrupted
      const std::function<void()> end = computes_ ? std::move(computed_) : done;
      computes_ = false;
      end();
      busy_ = false;
      idle_since_ = scheduler_.now();
      begin();
    });
  }

  void give_way() {
    if (!busy_ || !computes_) return;
    const auto left = static_cast<double>(ends_ - scheduler_.now());
    process_ns_ -= left;
    busy_ = computes_ = false;
    turn_++;
    processes_.push_front({[left] { return left; }, std::move(computed_), true});
  }

  Scheduler& scheduler_;
  const Parameters& parameters_;
  std::deque<Work> interrupts_, processes_;
  bool busy_ = false, was_interrupt_ = false, computes_ = false;
  std::function<void()> computed_;
  TimeNs ends_ = 0;
  std::uint64_t turn_ = 0;
  TimeNs idle_since_ = 0;
  double interrupt_ns_ = 0, process_ns_ = 0;
};

}  // namespace omx::simulation::nic
