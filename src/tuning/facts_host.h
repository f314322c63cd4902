// SPDX-License-Identifier: BSD-3-Clause
// The facts that `omx check` and `omx tune` read about the host.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuning/machine.h"

namespace omx::tuning {

// An idle state, and the processors that have it.
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
  std::vector<std::pair<int, std::string>> governors;  // by processor; empty: no choice
  bool performance_available = false;                  // the performance governor can be chosen
  std::optional<std::string> busy_poll;  // sysctls; nothing in a namespace, or where they may not be read
  std::optional<std::string> busy_read;
  std::optional<std::string> rmem_max;
  std::optional<std::string> wmem_max;
  bool irqbalance = false;  // whether it runs
};

HostFacts host_facts_read(const Machine& machine);

}  // namespace omx::tuning
