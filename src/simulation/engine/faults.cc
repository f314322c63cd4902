// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/faults.h"

#include <algorithm>

namespace omx::simulation {

namespace {
constexpr std::size_t kAddresses = 12;
}

FrameFaults Faults::draw(std::uint64_t number, wire::PacketType type) {
  FrameFaults drawn;
  if (!in_burst_ && random_.chance(plan.burst_start)) in_burst_ = true;
  if (in_burst_) {
    drawn.lost = true;
    in_burst_ = !random_.chance(plan.burst_end);
  }
  if (random_.chance(plan.loss)) drawn.lost = true;
  if (plan.lost_type == type && random_.chance(plan.lost_type_rate)) drawn.lost = true;
  if (std::find(plan.lost_frames.begin(), plan.lost_frames.end(), number) != plan.lost_frames.end())
    drawn.lost = true;
  if (random_.chance(plan.duplicate)) drawn.copies = 2;
  drawn.corrupted = random_.chance(plan.corrupt);
  if (random_.chance(plan.reorder)) drawn.held = random_.below(plan.reorder_most) + 1;
  if (random_.chance(plan.spike)) drawn.spike = random_.below(plan.spike_most) + 1;
  return drawn;
}

void Faults::corrupt(std::vector<std::byte>& bytes) {
  const std::size_t at = kAddresses + random_.below(bytes.size() - kAddresses);
  bytes[at] ^= static_cast<std::byte>(1U << random_.below(8));
}

}  // namespace omx::simulation
