// SPDX-License-Identifier: BSD-3-Clause
// What the progress thread does at an endpoint: it leads, or sends the messages that wait for coalescing.
#pragma once

#include "runtime/endpoint/burst.h"
#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/leader_turns.h"
#include "runtime/wait/progress_driver.h"
#include "runtime/wait/waiting.h"

namespace omx::runtime {

class BackgroundWork final : public ProgressHost {
 public:
  BackgroundWork(EndpointCore& core, Burst& burst, Waiting<LeaderTurns>& waiting)
      : core_(core), burst_(burst), waiting_(waiting) {}

  void lead_in_background() override { waiting_.lead_in_background(); }
  void ending() override {
    if (core_.engine) burst_.end();
  }
  bool held_release() override;
  std::uint64_t calls() const override { return core_.calls; }
  std::uint64_t turns() const override { return core_.turns; }
  TimeNs last_turn() const override { return core_.last_turn; }
  void count_call() override { core_.calls++; }
  std::uint64_t sleeps() const override { return core_.segment->counters().wakeups; }
  void count_takeover() override { core_.segment->counters().takeovers++; }

 private:
  EndpointCore& core_;
  Burst& burst_;
  Waiting<LeaderTurns>& waiting_;
};

}  // namespace omx::runtime
