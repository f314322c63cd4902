// SPDX-License-Identifier: BSD-3-Clause
// What a simulated fabric is made of: its tree of switches, its links and queues, its hosts.
#pragma once

#include <cstdint>

#include "protocol/config.h"
#include "simulation/engine/events.h"

namespace omx::simulation::fabric {

// A tree of switches with two or three tiers. All links have the rate of a host's link.
struct TreeShape {
  std::uint32_t hosts = 17;
  std::uint32_t hosts_per_leaf = 0;    // 0: all hosts are at one switch
  std::uint32_t leaves_per_pod = 8;    // pods are joined by cores; a single pod needs none
  std::uint32_t oversubscription = 1;  // rate of a leaf's hosts over the rate of its links upwards
};

struct FabricOptions {
  std::uint64_t seed = 1;
  TreeShape tree;
  std::uint64_t bits_per_second = 10'000'000'000;
  TimeNs delay = 500;                      // of a link: propagation, and the forwarding behind it
  std::uint64_t queue_bytes = 64U << 10;   // of each port of a switch
  std::uint64_t mark_bytes = 0;            // a port marks frames that find so much waiting; 0: none
  std::uint64_t nic_bytes = 256U << 10;    // a host makes no calls while its NIC has more to send
  std::uint32_t ring_frames = 4096;        // received frames that a host keeps between polls
  TimeNs poll_least = 500;                 // from a frame's arrival until the host polls
  TimeNs poll_most = 2'000;                //
  TimeNs tcp_delay = 10'000;               // from a TCP segment's arrival until its acknowledgement leaves
  std::uint32_t message_most = 32U << 20;  // the largest message
  std::uint32_t receives = 16;             // that each host keeps posted
  protocol::Config config;                 // of all endpoints; the fabric sets nic and session
};

}  // namespace omx::simulation::fabric
