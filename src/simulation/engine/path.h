// SPDX-License-Identifier: BSD-3-Clause
// How fast one host streams messages to another over a path that is long, loses frames, or reorders them.
#pragma once

#include <cstdint>
#include <string>

#include "simulation/engine/events.h"

namespace omx::simulation {

struct PathOptions {
  TimeNs delay = 10'000;  // from one host to the other
  double loss = 0;        // of each frame, both ways
  double reorder = 0;     // of each frame: it is held back ...
  TimeNs held_most = 0;   // ... for up to so long; 0: a fifth of the delay, at least 20 us
  std::uint64_t bits_per_second = 1'000'000'000;
  std::uint64_t queue_bytes =
      0;  // of the port to the receiver; 0: what comes in one round trip, at least 256 KiB
  std::uint32_t mtu = 1500;
  std::uint32_t length = 256U << 10;  // of a message
  std::uint32_t window = 16;          // messages that the sender has under way
  bool sleeps = false;                // the receiver: it asks for more at a time, so that few answers wake it
  TimeNs warm_up = 1'000'000'000;     // sent before the measurement begins
  TimeNs time = 2'000'000'000;        // measured
  std::uint64_t seed = 1;
};

struct PathResult {
  std::string failure;              // empty: none
  double bytes_per_second = 0;      // of whole messages
  double tcp_bytes_per_second = 0;  // what a stream of TCP (CUBIC) would carry there, see tcp_rate()
  double resent_share = 0;          // data frames that were sent, per frame that was needed, less one
  std::uint64_t given_up = 0;       // times that a peer was
};

PathResult path_run(const PathOptions& options);

// Throughput of a lasting TCP stream in bytes per second: the larger of what RFC 9438 section 5.1 gives for
// CUBIC and for Reno (C = 0.4, beta = 0.7), at most the rate of the path. Of queues and time-outs the formula
// knows nothing.
double tcp_rate(const PathOptions& options);

}  // namespace omx::simulation
