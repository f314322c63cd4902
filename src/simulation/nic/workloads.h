// SPDX-License-Identifier: BSD-3-Clause
// Workloads of two hosts that the papers measure.
#pragma once

#include "simulation/nic/work.h"

namespace omx::simulation::nic {

WorkResult pingpong(const WorkOptions& options);  // the first process of each host
WorkResult stream(const WorkOptions& options);    // from the first host to the second
WorkResult invalid(const WorkOptions& options);   // frames that the receiver's driver drops

}  // namespace omx::simulation::nic
