// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/facts_host.h"

#include <algorithm>

#include "base/cpu_list.h"
#include "base/number.h"

namespace omx::tuning {

namespace {

const std::string kProcessors = "/sys/devices/system/cpu";

std::optional<std::string> sysctl_of(const Machine& machine, const std::string& name) {
  return line_if_any(machine, "/proc/sys/net/core/" + name);
}

std::vector<int> cpus_of(const Machine& machine, const std::string& path) {
  return cpu_list_parse(line_read(machine, path).value_or(""));
}

std::string processor(int cpu) {
  return kProcessors + "/cpu" + std::to_string(cpu);
}

unsigned number_of(const std::string& text) {
  return static_cast<unsigned>(number_parse(text).value_or(0));
}

// Returns the entry for a state. Processors with equal states share one entry. Hybrid processors use one
// number for different states.
IdleState& state_of(std::vector<IdleState>& all, const IdleState& wanted) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const IdleState& s) {
    return s.state == wanted.state && s.name == wanted.name && s.latency_us == wanted.latency_us;
  });
  return at != all.end() ? *at : all.emplace_back(wanted);
}

void idle_read(const Machine& machine, HostFacts& facts) {
  facts.idle_driver = line_read(machine, kProcessors + "/cpuidle/current_driver").value_or("");
  if (facts.idle_driver == "none") facts.idle_driver.clear();
  for (const int cpu : facts.online) {
    const std::string folder = processor(cpu) + "/cpuidle";
    for (const std::string& state : folder_list(machine, folder)) {
      const std::string path = folder + "/" + state;
      const auto disabled = line_read(machine, path + "/disable");
      const auto latency = line_read(machine, path + "/latency");
      if (!disabled || !latency) continue;
      IdleState one{state, line_read(machine, path + "/name").value_or(state), number_of(*latency), {}};
      IdleState& shared = state_of(facts.idle, one);
      if (*disabled == "0") shared.enabled.push_back(cpu);
    }
  }
}

void governors_read(const Machine& machine, HostFacts& facts) {
  for (const int cpu : facts.online) {
    const std::string folder = processor(cpu) + "/cpufreq";
    auto governor = line_read(machine, folder + "/scaling_governor");
    if (!governor) continue;
    facts.governors.emplace_back(cpu, std::move(*governor));
    const std::string others = line_read(machine, folder + "/scaling_available_governors").value_or("");
    facts.performance_available |= others.find("performance") != std::string::npos;
  }
}

bool runs(const Machine& machine, const std::string& command) {
  for (const std::string& name : folder_list(machine, "/proc")) {
    if (!all_digits(name)) continue;
    if (line_read(machine, "/proc/" + name + "/comm") == command) return true;
  }
  return false;
}

}  // namespace

HostFacts host_facts_read(const Machine& machine) {
  HostFacts facts;
  facts.online = cpus_of(machine, kProcessors + "/online");
  for (const std::string& name : folder_list(machine, "/sys/devices/system/node")) {
    if (name.substr(0, 4) != "node" || name.size() == 4) continue;
    const std::size_t node = number_of(name.substr(4));
    if (facts.nodes.size() <= node) facts.nodes.resize(node + 1);
    facts.nodes[node] = cpus_of(machine, "/sys/devices/system/node/" + name + "/cpulist");
  }
  idle_read(machine, facts);
  governors_read(machine, facts);
  facts.busy_poll = sysctl_of(machine, "busy_poll");
  facts.busy_read = sysctl_of(machine, "busy_read");
  facts.rmem_max = sysctl_of(machine, "rmem_max");
  facts.wmem_max = sysctl_of(machine, "wmem_max");
  facts.irqbalance = runs(machine, "irqbalance");
  return facts;
}

}  // namespace omx::tuning
