// SPDX-License-Identifier: BSD-3-Clause
// How much longer messages take than on the empty fabric, by size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace omx::simulation::fabric {

// Each bucket holds messages up to this length that are longer than those of the one before.
inline constexpr std::array<std::uint32_t, 8> kBuckets = {64,         1U << 10,   8U << 10, 32U << 10,
                                                          128U << 10, 512U << 10, 2U << 20, UINT32_MAX};

struct Quantiles {
  double p50 = 0, p99 = 0, p999 = 0;
};

class Slowdown {
 public:
  void add(std::uint32_t length, double slowdown);
  std::size_t count(std::size_t bucket) const { return values_[bucket].size(); }
  Quantiles quantiles(std::size_t bucket);
  Quantiles all();

 private:
  std::array<std::vector<double>, kBuckets.size()> values_;
};

std::size_t bucket_of(std::uint32_t length);

}  // namespace omx::simulation::fabric
