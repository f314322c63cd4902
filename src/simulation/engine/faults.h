// SPDX-License-Identifier: BSD-3-Clause
// Faults of frames between a host and the network, all drawn from one seed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::simulation {

using protocol::TimeNs;

struct FaultPlan {
  double loss = 0;          // of each frame independently
  double burst_start = 0;   // a burst of losses begins with this frame ...
  double burst_end = 0.25;  // ... and ends after each lost frame with this probability
  double duplicate = 0;
  double corrupt = 0;  // one bit flips behind the addresses
  double reorder = 0;  // a frame is held back for up to reorder_most
  TimeNs reorder_most = 200'000;
  double spike = 0;  // all frames behind this one wait, too
  TimeNs spike_most = 5 * protocol::kMillisecond;
  std::optional<wire::PacketType> lost_type;  // frames of this type are lost with lost_type_rate
  double lost_type_rate = 0;
  std::vector<std::uint64_t> lost_frames;  // the n-th frame of the run
};

// The faults of one frame.
struct FrameFaults {
  bool lost = false;
  bool corrupted = false;
  unsigned copies = 1;
  TimeNs held = 0;  // only this frame is held back
  TimeNs spike = 0;
};

class Faults {
 public:
  explicit Faults(std::uint64_t seed) : random_(seed) {}

  FaultPlan plan;
  // Groups of hosts: hosts of different groups cannot hear each other. Empty: all hear all.
  std::vector<unsigned> groups;
  // Closed directions, from one host to another. The opposite direction is another entry. An entry may appear
  // twice, for two causes.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> closed;

  bool separated(std::uint32_t from, std::uint32_t to) const {
    const bool apart = from < groups.size() && to < groups.size() && groups[from] != groups[to];
    return apart || std::find(closed.begin(), closed.end(), std::pair(from, to)) != closed.end();
  }
  // Draws the faults of a frame.
  FrameFaults draw(std::uint64_t number, wire::PacketType type);
  // Damages one bit behind the addresses.
  void corrupt(std::vector<std::byte>& bytes);

 private:
  Random random_;
  bool in_burst_ = false;
};

}  // namespace omx::simulation
