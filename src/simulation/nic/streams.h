// SPDX-License-Identifier: BSD-3-Clause
// Streams between pairs of processes of two hosts, all at once.
#pragma once

#include "simulation/nic/work.h"

namespace omx::simulation::nic {

// Each process of the first host sends as fast as it can to the process of the second with its number.
WorkResult pair_streams(const WorkOptions& options);

}  // namespace omx::simulation::nic
