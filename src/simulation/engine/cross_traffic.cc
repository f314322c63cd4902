// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/cross_traffic.h"

#include <algorithm>

namespace omx::simulation {

namespace {

using protocol::kMillisecond;

// The others end some time after the application's last call, so that all that is lost can be repeated.
constexpr TimeNs kEnd = 3000 * kMillisecond;
constexpr TimeNs kShortMost = 20 * kMillisecond, kLongMost = 500 * kMillisecond;

}  // namespace

void CrossTraffic::phase_choose(const Port& port) {
  const std::uint64_t dice = random_.below(10);
  const TimeNs full = port.time_of(port.limits().queue_bytes);
  percent_ = static_cast<unsigned>(30 + random_.below(170));
  most_ = full / 2;
  TimeNs lasts = random_.below(kShortMost) + 1;
  if (dice < 3) {
    percent_ = 0;
  } else if (dice < 6) {
    most_ = full * (8 + random_.below(3)) / 10;  // little room, or none
  } else if (dice < 8) {
    lasts = random_.below(kLongMost) + 1;  // as long TCP streams
  }
  phase_end_ = at_ + lasts;
}

void CrossTraffic::advance(TimeNs now, Port& port) {
  for (const TimeNs end = std::min(now, kEnd); at_ < end;) {
    if (at_ >= phase_end_) phase_choose(port);
    const TimeNs to = std::min(end, phase_end_);
    port.others(at_, to, percent_, most_);
    at_ = to;
  }
}

}  // namespace omx::simulation
