// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/late_copies.h"

#include <algorithm>
#include <cstring>

namespace omx::simulation {

namespace {
constexpr double kRefused = 0.1, kAtOnce = 0.1, kVeryLate = 0.01;
constexpr TimeNs kLate = 100'000, kLatest = 30'000'000;
}  // namespace

protocol::Offload::Answer LateCopies::copy(const Copy& copy, std::uint64_t& ticket) {
  if (random_.chance(kRefused)) return Answer::refused;
  if (random_.chance(kAtOnce)) {
    std::memcpy(copy.to, copy.from, copy.bytes);
    return Answer::copied;
  }
  const TimeNs at = clock_() + 1 + random_.below(random_.chance(kVeryLate) ? kLatest : kLate);
  taken_ = ticket = ++submitted_;
  waiting_.push_back({copy, ticket, at});
  schedule_(at);
  return Answer::later;
}

void LateCopies::make(TimeNs until) {
  std::vector<Waiting> due;
  const auto rest = std::stable_partition(waiting_.begin(), waiting_.end(),
                                          [&](const Waiting& waiting) { return waiting.at > until; });
  due.assign(rest, waiting_.end());
  waiting_.erase(rest, waiting_.end());
  for (const Waiting& one : due) std::memcpy(one.copy.to, one.copy.from, one.copy.bytes);
  completed_ = waiting_.empty() ? submitted_ : waiting_.front().ticket - 1;
}

void LateCopies::forget() {
  waiting_.clear();
  completed_ = submitted_;
}

}  // namespace omx::simulation
