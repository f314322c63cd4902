// SPDX-License-Identifier: BSD-3-Clause
#include "base/cache_topology.h"

#include <algorithm>

#include "base/cpu_list.h"
#include "base/text_file.h"

namespace omx {

namespace {

// Returns the processors that share the last-level cache of `cpu`.
std::vector<int> last_level(int cpu, const std::string& root) {
  const std::string folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/";
  int highest = 0;
  std::vector<int> cpus;
  for (const std::string& name : folder_list(folder)) {
    const auto level = line_read(folder + name + "/level");
    const auto shared = line_read(folder + name + "/shared_cpu_list");
    const int number = level && level->size() == 1 ? level->front() - '0' : 0;
    if (!shared || number <= highest || number > 9) continue;
    highest = number;
    cpus = cpu_list_parse(*shared);
  }
  return cpus;
}

}  // namespace

bool cache_shared(const std::vector<int>& cpus, const std::string& root) {
  if (cpus.empty()) return false;
  const std::vector<int> shared = last_level(cpus.front(), root);
  return std::includes(shared.begin(), shared.end(), cpus.begin(), cpus.end());
}

}  // namespace omx
