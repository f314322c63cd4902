// SPDX-License-Identifier: BSD-3-Clause
// Opens a work queue and proves that it works (docs/spec/copy-offload.md 4).
#pragma once

#include <memory>
#include <vector>

#include "base/expected.h"
#include "copy/dsa_devices.h"
#include "copy/dsa_surroundings.h"
#include "copy/portal.h"

namespace omx::copy {

struct OpenQueue {
  DsaQueue queue;
  std::unique_ptr<Portal> portal;
};

// Opens one queue: its mapped portal where system and processor allow that, otherwise write(). A no-op has to
// come back within `answer_ns`.
Result<OpenQueue> dsa_open(const DsaSystem& system, const DsaQueue& queue, TimeNs answer_ns,
                           DsaSurroundings& surroundings);

// Opens the best queues that work, at most `most` (1 or more), all on one node: first one of each device, as
// each device copies by itself. The failure says what is wrong with each queue.
Result<std::vector<OpenQueue>> dsa_open_best(const DsaSystem& system, int numa_node, std::size_t most,
                                             DsaSurroundings& surroundings = dsa_surroundings());

// Submits a no-op and waits for it. Returns 0 or an errno (ETIMEDOUT: no completion came).
int dsa_probe(Portal& portal, TimeNs answer_ns, DsaSurroundings& surroundings);

}  // namespace omx::copy
