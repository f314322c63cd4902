// SPDX-License-Identifier: BSD-3-Clause
// Threads of this process, each of which measures with a thread of the server.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tools/perf/perf_exchange.h"
#include "tools/perf/perf_options.h"
#include "tools/perf/perf_runner.h"
#include "tools/perf/perf_talk.h"

namespace omx::tools {

class PerfPairs : public PerfRunner {
 public:
  // The meter must outlive the runner, and must be older than the library's threads.
  PerfPairs(const PerfOptions& options, PerfMeter& meter) : options_(options), meter_(meter) {}

  // Opens an endpoint for each thread and connects it to that of the server.
  Result<void> connect();
  std::string describe() const { return pairs_.front()->port->describe(); }

  Result<PerfTook> run(const PerfStep& step, PerfHistogram* times) override;
  Result<void> leave() override;
  unsigned pairs() const override { return static_cast<unsigned>(pairs_.size()); }
  double round_trip_s() const override { return pairs_.front()->talk->round_trip_s(); }

 private:
  // The port is destroyed first: until then its endpoint may receive into the others.
  struct Pair {
    PerfExchange exchange{true};
    std::optional<PerfTalk> talk;
    std::unique_ptr<MxPort> port;
    PerfHistogram times;
    // Of the last step of this thread.
    PerfAnswer answer;
    double seconds = 0;
    std::optional<Failure> failure;
  };

  Result<void> ready(Pair& pair, const PerfStep& step);
  Result<void> go(Pair& pair, const PerfStep& step, PerfHistogram* times);
  Result<void> run_threads(const PerfStep& step, PerfHistogram* times, PerfTook& took);

  const PerfOptions& options_;
  PerfMeter& meter_;
  std::vector<std::unique_ptr<Pair>> pairs_;
};

}  // namespace omx::tools
