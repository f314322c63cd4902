// SPDX-License-Identifier: BSD-3-Clause
// Opens a work queue and proves that it works (docs/spec/copy-offload.md 4).
#pragma once

#include <memory>

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

// Opens the best queue that works. The failure says what is wrong with each queue.
Result<OpenQueue> dsa_open_best(const DsaSystem& system, int numa_node,
                                DsaSurroundings& surroundings = dsa_surroundings());

// Submits a no-op and waits for it. Returns 0 or an errno (ETIMEDOUT: no completion came).
int dsa_probe(Portal& portal, TimeNs answer_ns, DsaSurroundings& surroundings);

}  // namespace omx::copy
