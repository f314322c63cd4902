// SPDX-License-Identifier: BSD-3-Clause
// What an endpoint shows to other processes (counters_shared.h): the counters of its links and hub, and its
// state.
#pragma once

#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/progression.h"
#include "runtime/endpoint/rails.h"
#include "runtime/wait/waiters.h"

namespace omx::runtime {

class Publication {
 public:
  Publication(EndpointCore& core, const Rails& rails, const Progression& progression, Waiters& waiters)
      : core_(core), rails_(rails), progression_(progression), waiters_(waiters) {}

  void counters();
  void view();
  // Returns whether something has happened since the view was published.
  bool view_old() const { return activity() != view_seen_; }

 private:
  std::uint64_t activity() const;

  EndpointCore& core_;
  const Rails& rails_;
  const Progression& progression_;
  Waiters& waiters_;
  std::uint64_t view_seen_ = 0;  // the activity when it was published
};

}  // namespace omx::runtime
