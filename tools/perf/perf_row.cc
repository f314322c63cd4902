// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_row.h"

namespace omx::tools {

double PerfSpent::processors() const {
  if (!(usage.known & PerfUsage::kTimes) || seconds <= 0) return -1;
  return static_cast<double>(usage.times_ns()) * 1e-9 / seconds;
}

double PerfSpent::cycles_per_byte() const {
  if (!(usage.known & PerfUsage::kCycles) || !bytes) return -1;
  return static_cast<double>(usage.cycles) / static_cast<double>(bytes);
}

void PerfTally::add(std::uint64_t count, const PerfTook& took, const PerfHistogram& times) {
  count_ += count;
  seconds_ += took.seconds;
  times_.merge(times);
  if (spent_) {
    here_.usage.add(took.here);
    there_.usage.add(took.there);
  } else {
    here_.usage = took.here;
    there_.usage = took.there;
  }
  spent_ = true;
  here_.bytes += took.bytes_here;
  there_.bytes += took.bytes_there;
  here_.seconds = there_.seconds = seconds_;
  slowest_s_ += took.slowest_s;
  fastest_s_ += took.fastest_s;
  receivers_ = took.receivers;
}

void PerfTally::clear() {
  times_.clear();
  count_ = 0;
  seconds_ = slowest_s_ = fastest_s_ = 0;
  spent_ = false;
  here_ = there_ = {};
}

PerfFigures PerfTally::figures() const {
  PerfFigures figures;
  figures.messages = count_ * pairs_;
  figures.seconds = seconds_;
  const auto messages = static_cast<double>(figures.messages);
  if (times_.count()) {
    // The pairs measure at the same time, so the time of one is the mean of all.
    figures.seconds = static_cast<double>(times_.sum()) * 1e-9 / pairs_;
    figures.min_us = static_cast<double>(times_.least()) * kHalfUs;
    figures.median_us = times_.percentile(50) * kHalfUs;
    figures.p99_us = times_.percentile(99) * kHalfUs;
    figures.mean_us = static_cast<double>(times_.sum()) / static_cast<double>(times_.count()) * kHalfUs;
    figures.max_us = static_cast<double>(times_.greatest()) * kHalfUs;
    for (const double percent : options_.percentiles)
      figures.percentiles.emplace_back(percent, times_.percentile(percent) * kHalfUs);
  }
  const double ways = options_.test == PerfTest::pingpong || options_.test == PerfTest::bistream ? 2 : 1;
  if (figures.seconds > 0) figures.per_second = ways * messages / figures.seconds;
  return figures;
}

PerfRow PerfTally::row(std::uint64_t size) const {
  PerfRow row;
  static_cast<PerfFigures&>(row) = figures();
  row.size = size;
  row.here = here_;
  row.there = there_;
  const double senders_mb = static_cast<double>(size * receivers_) * static_cast<double>(count_) * 1e-6;
  if (slowest_s_ > 0) row.slowest_mb_per_s = senders_mb / slowest_s_;
  if (fastest_s_ > 0) row.fastest_mb_per_s = senders_mb / fastest_s_;
  if (options_.histogram) row.buckets = times_.buckets();
  return row;
}

}  // namespace omx::tools
