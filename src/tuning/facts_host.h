// SPDX-License-Identifier: BSD-3-Clause
// What is read of the host, before anybody judges it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuning/machine.h"

namespace omx::tuning {

// A sleeping state of processors, of all that have it.
struct IdleState {
  std::string state;  // "state3"
  std::string name;   // "C6"
  unsigned latency_us = 0;
  std::vector<int> enabled;  // processors that may use it
};

struct HostFacts {
  std::vector<int> online;              // processors
  std::vector<std::vector<int>> nodes;  // processors of each NUMA node, by node
  std::vector<IdleState> idle;
  std::string idle_driver;                             // empty: none
  std::vector<std::pair<int, std::string>> governors;  // cpufreq, by processor; empty: not ours to choose
  bool performance_available = false;                  // of the governors
  std::optional<std::string> busy_poll;  // sysctls; none in a namespace, or where it may not be read
  std::optional<std::string> busy_read;
  std::optional<std::string> rmem_max;
  std::optional<std::string> wmem_max;
  bool irqbalance = false;  // it runs
};

HostFacts host_facts_read(const Machine& machine);

}  // namespace omx::tuning
