// SPDX-License-Identifier: BSD-3-Clause
// Measures how fast one host streams messages to another over a path that is long, loses frames, or reorders
// them.
#pragma once

#include <cstdint>
#include <string>

#include "simulation/engine/events.h"

namespace omx::simulation {

struct PathOptions {
  TimeNs delay = 10'000;  // from one host to the other
  double loss = 0;        // of each frame, both ways
  double reorder = 0;     // of each frame: it is held back ...
  TimeNs held_most = 0;   // ... for up to this time; 0: a fifth of the delay, at least 20 us
  std::uint64_t bits_per_second = 1'000'000'000;
  // Queue of the port to the receiver. 0: the bytes of one round trip, at least 256 KiB.
  std::uint64_t queue_bytes = 0;
  std::uint32_t mtu = 1500;
  std::uint32_t length = 256U << 10;  // of a message
  std::uint32_t window = 16;          // messages under way
  bool sleeps = false;  // the receiver sleeps, so it asks for more at a time and is woken by fewer answers
  TimeNs warm_up = 1'000'000'000;  // sent before the measurement begins
  TimeNs time = 2'000'000'000;     // measured
  std::uint64_t seed = 1;
};

struct PathResult {
  std::string failure;              // empty: no failure
  double bytes_per_second = 0;      // of whole messages
  double tcp_bytes_per_second = 0;  // what a TCP stream (CUBIC) would carry there, see tcp_rate()
  double resent_share = 0;          // data frames sent per frame needed, less one
  std::uint64_t given_up = 0;       // how often a peer was given up
};

PathResult path_run(const PathOptions& options);

// Returns the throughput of a long TCP stream in bytes per second, at most the rate of the path. It is the
// larger of what RFC 9438 section 5.1 gives for CUBIC and for Reno (C = 0.4, beta = 0.7). The formula ignores
// queues and time-outs.
double tcp_rate(const PathOptions& options);

}  // namespace omx::simulation
