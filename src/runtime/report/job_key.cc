// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/report/job_key.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string_view>

#include "base/process_stat.h"

namespace omx::runtime {

std::string job_key(const char* (*get)(const char* name)) {
  const auto set = [get](const char* name) -> std::string_view {
    const char* const value = get(name);
    return value ? value : "";
  };
  if (const auto name = set("PMIX_NAMESPACE"); !name.empty()) return fmt::format("pmix {}", name);
  const auto job = set("SLURM_JOB_ID"), step = set("SLURM_STEP_ID");
  if (!job.empty() && !step.empty()) return fmt::format("slurm {} {}", job, step);
  if (set("PMI_RANK").empty()) return {};
  const int parent = ::getppid();
  const auto start = start_of_process(parent);
  return start ? fmt::format("parent {} {}", parent, start) : std::string();
}

unsigned long long start_of_process(int pid) {
  const auto process = process_stat(pid);
  return process && !process->ended() ? process->started : 0;
}

}  // namespace omx::runtime
