// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_histogram.h"

#include <cmath>

namespace omx::tools {

PerfHistogram::Bucket PerfHistogram::bounds(std::size_t bucket) {
  // The first 2048 buckets are one nanosecond wide; then the width doubles after every 1024.
  const std::size_t octave = bucket >> kOctaveBits;
  const std::size_t shift = octave ? octave - 1 : 0;
  const std::uint64_t low = (bucket - (shift << kOctaveBits)) << shift;
  return {low, low + (1ULL << shift) - 1, 0};
}

void PerfHistogram::merge(const PerfHistogram& other) {
  if (!other.count_) return;
  const std::size_t last = bucket_of(other.greatest_);
  for (std::size_t i = bucket_of(other.least_); i <= last; i++) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  least_ = std::min(least_, other.least_);
  greatest_ = std::max(greatest_, other.greatest_);
}

void PerfHistogram::clear() {
  if (!count_) return;
  const auto at = [this](std::uint64_t ns) { return counts_.begin() + static_cast<long>(bucket_of(ns)); };
  std::fill(at(least_), at(greatest_) + 1, 0);
  count_ = sum_ = greatest_ = 0;
  least_ = std::numeric_limits<std::uint64_t>::max();
}

double PerfHistogram::percentile(double percent) const {
  if (!count_) return 0;
  // A product such as 0.999 * 1000 may be a hair above the whole number that is meant.
  constexpr double kHair = 1e-9;
  const double exact = percent / 100 * static_cast<double>(count_);
  const auto rank =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(exact * (1 - kHair))), 1, count_);
  std::uint64_t passed = 0;
  for (std::size_t i = bucket_of(least_); i < kBuckets; i++) {
    passed += counts_[i];
    if (passed < rank) continue;
    const Bucket bucket = bounds(i);
    const double middle = static_cast<double>(bucket.low + bucket.high) / 2;
    return std::clamp(middle, static_cast<double>(least_), static_cast<double>(greatest_));
  }
  return static_cast<double>(greatest_);
}

std::vector<PerfHistogram::Bucket> PerfHistogram::buckets() const {
  std::vector<Bucket> found;
  for (std::size_t i = 0; count_ && i <= bucket_of(greatest_); i++) {
    if (!counts_[i]) continue;
    found.push_back(bounds(i));
    found.back().count = counts_[i];
  }
  return found;
}

}  // namespace omx::tools
