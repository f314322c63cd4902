// SPDX-License-Identifier: BSD-3-Clause
// Measures one size: a warm-up, then steps until its messages and --min-time are reached or --max-time is
// over.
#pragma once

#include <functional>

#include "tools/perf/perf_pace.h"
#include "tools/perf/perf_progress.h"
#include "tools/perf/perf_row.h"
#include "tools/perf/perf_runner.h"

namespace omx::tools {

class PerfMeasure {
 public:
  using IntervalSeen = std::function<void(std::uint64_t size, const PerfInterval& interval)>;

  // `seen` is called at the end of each interval of --interval.
  PerfMeasure(PerfRunner& runner, const PerfOptions& options, IntervalSeen seen);

  Result<PerfRow> measure(std::uint64_t size);

 private:
  Result<void> warm_up(PerfStep step, std::uint64_t iterations, double limit_s, PerfPace& pace,
                       PerfProgress& progress);
  void interval_end(std::uint64_t size);

  PerfRunner& runner_;
  const PerfOptions& options_;
  const IntervalSeen seen_;
  PerfTally all_, part_;  // of the size, and of its current interval
  PerfHistogram times_;   // of a step
  double interval_from_s_ = 0;
  std::vector<PerfInterval> intervals_;
};

}  // namespace omx::tools
