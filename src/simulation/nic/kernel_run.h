// SPDX-License-Identifier: BSD-3-Clause
// Runs the programs of kernels.h on two hosts of eight processes.
#pragma once

#include "simulation/nic/work.h"

namespace omx::simulation::nic {

WorkResult kernel(const WorkOptions& options);  // what the processes of a NAS benchmark send

}  // namespace omx::simulation::nic
