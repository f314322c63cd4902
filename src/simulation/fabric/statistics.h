// SPDX-License-Identifier: BSD-3-Clause
// Figures of many values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace omx::simulation::fabric {

// Returns the value that this part of all values does not exceed. Reorders `values`.
template <typename T>
T quantile(std::vector<T>& values, double part) {
  if (values.empty()) return T{};
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Returns Jain's index of fairness: 1 if all have the same, 1/n if one has all.
inline double jain(const std::vector<double>& shares) {
  double sum = 0, squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(shares.size()) * squares) : 0;
}

}  // namespace omx::simulation::fabric
