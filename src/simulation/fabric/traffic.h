// SPDX-License-Identifier: BSD-3-Clause
// Messages of many hosts to many others, which are sent at random times whether or not earlier ones have
// arrived (Poisson arrivals, open loop), with TCP flows beside them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/fabric/fabric.h"
#include "simulation/fabric/ideal.h"
#include "simulation/fabric/slowdown.h"

namespace omx::simulation::fabric {

struct TrafficOptions {
  FabricOptions fabric;
  std::string_view workload = "web-search";
  double load = 0.5;                                 // of the narrowest tier
  TimeNs duration = 20 * protocol::kMillisecond;     // how long messages are sent
  TimeNs patience = 2'000 * protocol::kMillisecond;  // how long after that the last may take
  std::uint32_t tcp_flows = 0;                       // between random hosts of different leaves
  TcpKind tcp_kind = TcpKind::cubic;
};

// The program's and the engines' cost.
struct TrafficCost {
  double cpu_seconds = 0;
  std::uint64_t events = 0, resident_bytes = 0, peers = 0, peer_bytes = 0, packets = 0;
};

struct TrafficResult {
  std::string failure;  // empty: no failure
  std::uint64_t messages = 0, bytes = 0, unfinished = 0;
  double host_load = 0;  // bytes on the cable that hosts send, relative to the rate of their links
  double goodput = 0;    // message bytes that came while messages were sent, relative to those offered
  TimeNs time = 0;       // until the last message came
  // Slowdowns over the time on the empty fabric (empty_time()). An unfinished message counts with the time
  // that it has waited.
  Slowdown engine, ideal;
  std::array<double, kBuckets.size()> alone{};  // of the engine on the empty fabric; 0: no such message
  std::uint64_t frames = 0, data_frames = 0, frames_needed = 0;
  std::array<std::uint64_t, kTiers> dropped{};  // frames of engines and TCP
  std::uint64_t ring_dropped = 0, tcp_dropped = 0;
  std::array<double, kTiers> queue_p99{};  // part of the queue that was full
  double jain = 0;       // of the bytes that came from each sender, relative to those it sent
  double tcp_share = 0;  // payload of the flows, relative to the rate of their hosts' links
  std::uint64_t digest = 0;
  TrafficCost cost;
};

// Draws the messages of a run, in the order of their times.
std::vector<Message> traffic_draw(const TrafficOptions& options, const Tree& tree);

TrafficResult traffic_run(const TrafficOptions& options);

}  // namespace omx::simulation::fabric
