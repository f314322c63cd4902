// SPDX-License-Identifier: BSD-3-Clause
// Bounds how much of the broker's time one user takes. A user who asks for more is read later, so that others
// are served meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>

namespace omx::broker {

class Pace {
 public:
  // Charges a request that takes about `cost_ns`.
  void charge(std::int64_t now, std::int64_t cost_ns) { free_at_ = std::max(free_at_, now) + cost_ns; }
  // Returns when the user may be read again; not later than `now` if at once.
  std::int64_t readable_at() const { return free_at_ - kBurstNs; }

 private:
  static constexpr std::int64_t kBurstNs = 500'000'000;

  std::int64_t free_at_ = 0;
};

}  // namespace omx::broker
