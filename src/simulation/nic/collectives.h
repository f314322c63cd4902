// SPDX-License-Identifier: BSD-3-Clause
// Workloads of all processes of all hosts: an Alltoall, and a sort that does what NAS IS does: keys of which
// each is the mean of four random numbers are counted by bucket, the counts exchanged, and then the keys, so
// that each process has those of its range. Between processes of one host data go through memory.
#pragma once

#include "simulation/nic/work.h"

namespace omx::simulation::nic {

WorkResult alltoall(const WorkOptions& options);  // all processes of both hosts
WorkResult sort(const WorkOptions& options);      // a bucket sort of `size` keys by all processes, checked

}  // namespace omx::simulation::nic
