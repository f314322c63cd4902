// SPDX-License-Identifier: BSD-3-Clause
// Reports completions to the sink of an endpoint, if there is one.
#pragma once

#include <cstdint>

#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/peer_reports.h"

namespace omx::runtime {

class CompletionFeed {
 public:
  CompletionFeed(EndpointCore& core, PeerReports& reports) : core_(core), reports_(reports) {}

  // Reports new completions. Call it after engine calls.
  void run() {
    while (core_.sink && seen_ != core_.engine->completion_count()) {
      seen_ = core_.engine->completion_count();
      if (core_.engine->news()) [[unlikely]]
        reports_.news();  // sends that follow the report of failed operations must fail as well
      core_.sink->completed(*core_.engine, core_.now);
    }
  }

 private:
  EndpointCore& core_;
  PeerReports& reports_;
  std::uint64_t seen_ = 0;  // completions reported so far
};

}  // namespace omx::runtime
