// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_measure.h"

#include <algorithm>

namespace omx::tools {

namespace {

constexpr double kWarmUpShare = 0.25;  // of the time limit of a size
// An interval ends a little early rather than with a step of a few messages.
constexpr double kIntervalShare = 0.95;

}  // namespace

PerfMeasure::PerfMeasure(PerfRunner& runner, const PerfOptions& options, IntervalSeen seen)
    : runner_(runner),
      options_(options),
      seen_(std::move(seen)),
      all_(options, runner.pairs()),
      part_(options, runner.pairs()) {}

Result<PerfRow> PerfMeasure::measure(std::uint64_t size) {
  const bool group = options_.pattern != PerfPattern::pairs;
  PerfStep step;
  step.ask = static_cast<std::uint64_t>(group ? PerfAsk::group_step : PerfAsk::step);
  step.test =
      group ? static_cast<std::uint64_t>(options_.pattern) : static_cast<std::uint64_t>(options_.test);
  step.size = size;
  step.window = options_.test == PerfTest::pingpong ? 1
                : options_.window                   ? options_.window
                                                    : default_window(options_.test, size);
  step.verify = options_.verify;
  step.sync = options_.sync;
  step.blocking = options_.blocking;
  const std::uint64_t iterations =
      options_.iterations ? options_.iterations : default_iterations(options_.test, size);

  const double limit_s = perf_limit_s(options_);
  PerfPace pace(runner_.round_trip_s());
  PerfProgress progress(size, iterations, options_.interval_s == 0);  // not between the lines of intervals
  if (auto r = warm_up(step, iterations, limit_s * kWarmUpShare, pace, progress); !r)
    return tl::unexpected(r.error());

  all_.clear();
  part_.clear();
  intervals_.clear();
  interval_from_s_ = 0;
  while ((all_.count() < iterations || all_.seconds() < options_.min_time_s) && all_.seconds() < limit_s) {
    const std::uint64_t missing = all_.count() < iterations ? iterations - all_.count() : iterations;
    double rest_s = limit_s - all_.seconds();
    if (options_.interval_s > 0)
      rest_s = std::min(rest_s, interval_from_s_ + options_.interval_s - all_.seconds());
    step.count = pace.next(missing, rest_s);
    progress.show(all_.count());
    times_.clear();
    const auto took = runner_.run(step, &times_);
    if (!took) return tl::unexpected(took.error());
    pace.took(step.count, took->seconds);
    all_.add(step.count, *took, times_);
    if (options_.interval_s > 0) {
      part_.add(step.count, *took, times_);
      if (part_.seconds() >= kIntervalShare * options_.interval_s) interval_end(size);
    }
  }
  if (part_.count()) interval_end(size);
  PerfRow row = all_.row(size);
  row.wanted = std::max(iterations * runner_.pairs(), row.messages);
  row.intervals = std::move(intervals_);
  return row;
}

void PerfMeasure::interval_end(std::uint64_t size) {
  const PerfInterval interval{interval_from_s_, all_.seconds(), part_.figures()};
  interval_from_s_ = interval.to_s;
  part_.clear();
  intervals_.push_back(interval);
  seen_(size, interval);
}

Result<void> PerfMeasure::warm_up(PerfStep step, std::uint64_t iterations, double limit_s, PerfPace& pace,
                                  PerfProgress& progress) {
  const std::uint64_t wanted = options_.warm_up_given ? options_.warm_up : default_warm_up(iterations);
  double seconds = 0;
  for (std::uint64_t done = 0; done < wanted && seconds < limit_s; done += step.count) {
    step.count = pace.next(wanted - done, limit_s - seconds);
    progress.show(0);
    const auto took = runner_.run(step, nullptr);
    if (!took) return tl::unexpected(took.error());
    pace.took(step.count, took->seconds);
    seconds += took->seconds;
  }
  return {};
}

}  // namespace omx::tools
