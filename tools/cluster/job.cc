// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/job.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstring>
#include <initializer_list>
#include <optional>

namespace omx::tools {

namespace {

constexpr int kMxFailure = 2;

std::optional<std::size_t> number_of(const GetVariable& variable, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* text = variable(name);
    std::size_t number = 0;
    if (text && std::from_chars(text, text + std::strlen(text), number).ec == std::errc()) return number;
  }
  return std::nullopt;
}

// Returns a text that can be the name of a file.
std::string plain(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-') c = '_';
  return text;
}

}  // namespace

Result<Job> job_find(const GetVariable& variable) {
  // Slurm sets its variables for Open MPI's own daemons, too, so those of Open MPI come first.
  const auto rank = number_of(variable, {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "PMIX_RANK"});
  const auto size = number_of(variable, {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"});
  if (!rank || !size)
    return fail(kMxFailure,
                "--job: no launcher started this process; start it as mpirun -n N omx check --job, "
                "or use --hosts");
  const auto local = number_of(variable, {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"});
  Job job{*rank, *size, local.value_or(0) == 0, ""};
  for (const char* name :
       {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "SLURM_JOB_ID", "PMI_JOBID", "PBS_JOBID"}) {
    const char* text = variable(name);
    if (!text || !*text) continue;
    job.id = text;
    const char* step = variable("SLURM_STEP_ID");
    if (step && std::strcmp(name, "SLURM_JOB_ID") == 0) job.id += fmt::format("-{}", step);
    break;
  }
  job.id = plain(job.id);
  return job;
}

}  // namespace omx::tools
