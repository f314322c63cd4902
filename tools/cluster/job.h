// SPDX-License-Identifier: BSD-3-Clause
// This process as one of a job's, as its launcher (mpirun, srun) says by the environment.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/expected.h"

namespace omx::tools {

struct Job {
  std::size_t rank = 0, size = 0;
  bool first_of_host = true;  // only this rank of its host takes part
  std::string id;             // the same for all ranks, and for no other job
};

using GetVariable = std::function<const char*(const char*)>;
// Reads the variables of Open MPI, Slurm and MPICH. Fails outside of a job.
Result<Job> job_find(const GetVariable& variable);

}  // namespace omx::tools
