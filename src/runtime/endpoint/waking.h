// SPDX-License-Identifier: BSD-3-Clause
// Finds the waiting threads that an operation or a turn concerns.
#pragma once

#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/intra_node.h"
#include "runtime/endpoint/progression.h"
#include "runtime/wait/waiters.h"

namespace omx::runtime {

class Waking {
 public:
  Waking(EndpointCore& core, const Progression& progression, const IntraNode& intra_node, Waiters& waiters)
      : core_(core), progression_(progression), intra_node_(intra_node), waiters_(waiters) {}

  // Wakes the threads that it concerns, except `self`. Costs one comparison when none waits.
  void wake_others(const Waiter* self = nullptr) {
    if (waiters_.any()) wake_concerned(self);
  }

 private:
  void wake_concerned(const Waiter* self);

  EndpointCore& core_;
  const Progression& progression_;
  const IntraNode& intra_node_;
  Waiters& waiters_;
};

}  // namespace omx::runtime
