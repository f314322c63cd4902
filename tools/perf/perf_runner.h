// SPDX-License-Identifier: BSD-3-Clause
// Carries out a step by pairs of threads or by a group of processes.
#pragma once

#include <cstdint>

#include "tools/perf/perf_dialogue.h"
#include "tools/perf/perf_histogram.h"
#include "tools/perf/perf_mx.h"
#include "tools/perf/perf_usage.h"

namespace omx::tools {

// The result of one step.
struct PerfTook {
  double seconds = 0;  // from the first message to the last answer that all have arrived
  // The usage of this process and of all servers, and the bytes that they sent and received meanwhile.
  PerfUsage here, there;
  std::uint64_t bytes_here = 0, bytes_there = 0;
  // Of a group: the time of the sender that was done first, and of the last. Each sends to as many receivers.
  double fastest_s = 0, slowest_s = 0;
  std::uint64_t receivers = 1;
};

class PerfRunner {
 public:
  virtual ~PerfRunner() = default;
  // Runs a step. Round trips of a ping-pong are added to `times` unless it is null.
  virtual Result<PerfTook> run(const PerfStep& step, PerfHistogram* times) = 0;
  // Says goodbye to the servers.
  virtual Result<void> leave() = 0;
  // Returns how many senders and receivers exchange the messages of a step at the same time.
  virtual unsigned pairs() const = 0;
  virtual double round_trip_s() const = 0;
};

}  // namespace omx::tools
