// SPDX-License-Identifier: BSD-3-Clause
// Workloads of all processes of all hosts: an Alltoall, and a sort like NAS IS. Its keys are means of four
// random numbers. They are counted by bucket, the counts are exchanged, and then the keys, so that each
// process has the keys of its range. Between processes of one host data go through memory.
#pragma once

#include "simulation/nic/work.h"

namespace omx::simulation::nic {

WorkResult alltoall(const WorkOptions& options);  // all processes of both hosts
WorkResult sort(const WorkOptions& options);      // a bucket sort of `size` keys by all processes, checked

}  // namespace omx::simulation::nic
