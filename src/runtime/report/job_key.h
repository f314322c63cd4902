// SPDX-License-Identifier: BSD-3-Clause
// Which processes belong to one job: what the launcher says in the environment.
#pragma once

#include <string>

namespace omx::runtime {

// Returns a text that is the same for all processes of a job on a host, and different for other jobs. Returns
// an empty text if no launcher says so. `get` reads a variable; nullptr: it is not set.
//
//   PMIX_NAMESPACE                   Open MPI, PRRTE, srun --mpi=pmix
//   SLURM_JOB_ID and SLURM_STEP_ID   srun
//   PMI_RANK                         Hydra (MPICH, Intel MPI), which names no job: the common parent process
std::string job_key(const char* (*get)(const char* name));

// Returns when a process started, in the kernel's ticks since boot; 0 if it is gone, or only its exit status
// is left. A number of a process is used again, but not with the same start.
unsigned long long start_of_process(int pid);

}  // namespace omx::runtime
