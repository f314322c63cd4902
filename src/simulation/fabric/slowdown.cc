// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/fabric/slowdown.h"

#include <algorithm>

#include "simulation/fabric/statistics.h"

namespace omx::simulation::fabric {

namespace {
Quantiles quantiles_of(std::vector<double>& values) {
  return {quantile(values, 0.5), quantile(values, 0.99), quantile(values, 0.999)};
}
}  // namespace

std::size_t bucket_of(std::uint32_t length) {
  return static_cast<std::size_t>(std::lower_bound(kBuckets.begin(), kBuckets.end(), length) -
                                  kBuckets.begin());
}

void Slowdown::add(std::uint32_t length, double slowdown) {
  values_[bucket_of(length)].push_back(slowdown);
}

Quantiles Slowdown::quantiles(std::size_t bucket) {
  return quantiles_of(values_[bucket]);
}

Quantiles Slowdown::all() {
  std::vector<double> all;
  for (const auto& values : values_) all.insert(all.end(), values.begin(), values.end());
  return quantiles_of(all);
}

}  // namespace omx::simulation::fabric
