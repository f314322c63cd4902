// SPDX-License-Identifier: BSD-3-Clause
// What threads wait for: completion queues, counters and event queues, known by their fid.
#pragma once

#include <rdma/fabric.h>

namespace omx::fabric {

class Waitable;

// Returns the completion queue or counter that the object is. nullptr: it is neither.
Waitable* waitable_of(fid* object);

// Answers fi_trywait. Returns 0 if a thread may sleep on the descriptors of all objects, and -FI_EAGAIN if
// one of them has something already. Thread-safe.
int trywait(fid_fabric* fabric, fid** objects, int count);

}  // namespace omx::fabric
