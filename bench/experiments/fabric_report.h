// SPDX-License-Identifier: BSD-3-Clause
// The options of omx_fabric, and how it prints results.
#pragma once

#include <cstdint>
#include <string>

#include "simulation/fabric/incast.h"
#include "simulation/fabric/peer_memory.h"
#include "simulation/fabric/traffic.h"

namespace omx::bench {

struct FabricProgram {
  simulation::fabric::FabricOptions fabric;
  simulation::fabric::IncastOptions incast;
  simulation::fabric::TrafficOptions traffic;
  std::string workload = "web-search";
  double traffic_ms = 20, patience_ms = 500;
  double gigabits = 10, duration_ms = 0, alone_ms = 1000, ping_us = 0, delay_us = 0.5, poll_least_us = 0.5,
         poll_most_us = 2;
  std::uint32_t seeds = 1;
  bool json = false;
};

void incast_json(const FabricProgram& o, std::uint64_t seed, const simulation::fabric::IncastResult& r);
void incast_text(const FabricProgram& o, std::uint64_t seed, const simulation::fabric::IncastResult& r);
void peers_print(const FabricProgram& o, const simulation::fabric::PeerMemoryResult& r);
void traffic_json(const FabricProgram& o, std::uint64_t seed, simulation::fabric::TrafficResult& r);
void traffic_text(const FabricProgram& o, std::uint64_t seed, simulation::fabric::TrafficResult& r);

}  // namespace omx::bench
