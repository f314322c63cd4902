// SPDX-License-Identifier: BSD-3-Clause
// Many hosts send to one: as fast as they can, or each at random times so that all together send at a given
// rate.
#pragma once

#include "simulation/nic/work.h"

namespace omx::simulation::nic {

WorkResult incast(const WorkOptions& options);  // from all other hosts to the first

}  // namespace omx::simulation::nic
