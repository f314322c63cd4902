// SPDX-License-Identifier: BSD-3-Clause
// Counts times in buckets whose width grows with the time, as HdrHistogram does. The memory is bounded
// however many times there are, and no percentile is wrong by more than a thousandth.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace omx::tools {

class PerfHistogram {
 public:
  struct Bucket {
    std::uint64_t low = 0, high = 0;  // the least and the greatest time that it counts
    std::uint64_t count = 0;
  };

  PerfHistogram() : counts_(kBuckets) {}

  // Adds a time in nanoseconds. Times over kMost count as kMost.
  void add(std::uint64_t ns) {
    ns = std::min(ns, kMost);
    counts_[bucket_of(ns)]++;
    count_++;
    sum_ += ns;
    least_ = std::min(least_, ns);
    greatest_ = std::max(greatest_, ns);
  }
  void merge(const PerfHistogram& other);
  void clear();

  std::uint64_t count() const { return count_; }
  std::uint64_t sum() const { return sum_; }
  // Exact. Both are 0 without a time.
  std::uint64_t least() const { return count_ ? least_ : 0; }
  std::uint64_t greatest() const { return greatest_; }
  // Returns the middle of the bucket of the time at or below which `percent` of all times lie (nearest rank).
  double percentile(double percent) const;
  // Returns the buckets that counted something, by time.
  std::vector<Bucket> buckets() const;

  // Each octave has 1024 buckets, so a bucket's width is at most a 1024th of its times. Times below 2048 have
  // a bucket each.
  static constexpr unsigned kOctaveBits = 10;
  static constexpr std::uint64_t kMost = (1ULL << 42) - 1;  // 73 minutes

 private:
  static constexpr std::size_t kBuckets = (42 - kOctaveBits + 1) << kOctaveBits;

  static std::size_t bucket_of(std::uint64_t ns) {
    const int shift = std::max(static_cast<int>(std::bit_width(ns)) - static_cast<int>(kOctaveBits) - 1, 0);
    return (static_cast<std::size_t>(shift) << kOctaveBits) + static_cast<std::size_t>(ns >> shift);
  }
  static Bucket bounds(std::size_t bucket);

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0, sum_ = 0;
  std::uint64_t least_ = std::numeric_limits<std::uint64_t>::max(), greatest_ = 0;
};

}  // namespace omx::tools
