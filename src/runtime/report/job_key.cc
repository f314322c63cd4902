// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/report/job_key.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "base/text_file.h"

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
  const auto text = text_file_read(fmt::format("/proc/{}/stat", pid));
  if (!text) return 0;
  // The name of the program is in parentheses and may hold anything. Behind it come field 3, the state, and
  // field 22, the start.
  const std::size_t end = text->rfind(')');
  if (end == std::string::npos) return 0;
  const auto fields = words_of(std::string_view(*text).substr(end + 1));
  if (fields.size() < 20 || fields[0] == "Z" || fields[0] == "X") return 0;
  return std::strtoull(std::string(fields[19]).c_str(), nullptr, 10);
}

}  // namespace omx::runtime
