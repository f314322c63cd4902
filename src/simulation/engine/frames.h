// SPDX-License-Identifier: BSD-3-Clause
// Frames in flight, in memory that is reused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "wire/packets.h"

namespace omx::simulation {

struct SimFrame {
  std::vector<std::byte> bytes;
  std::uint64_t number = 0;  // of the frame in the run; copies share it
  std::uint32_t from = 0;    // host
  bool damaged = false;
  bool marked = false;    // by a queue (ECN)
  bool bulk = false;      // goes by the receiver's UDP bulk path
  std::uint32_t cut = 0;  // bytes of each datagram of a GSO frame; 0: it is none
  unsigned rail = 0;      // number of the sender's board, and of the switch it is on

  wire::PacketType type() const { return static_cast<wire::PacketType>(bytes[16]); }
  // Returns the size of the largest packet on the wire.
  std::size_t packet() const { return cut > 0 ? std::min<std::size_t>(cut, bytes.size()) : bytes.size(); }
  NicId destination() const { return mac_load(bytes.data()); }
};

// Hands out frames by index, so that an event can carry one in its argument.
class FramePool {
 public:
  std::uint32_t create() {
    live_++;
    if (free_.empty()) {
      frames_.push_back(std::make_unique<SimFrame>());
      return static_cast<std::uint32_t>(frames_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  std::uint32_t copy(std::uint32_t index) {
    const std::uint32_t other = create();
    *frames_[other] = *frames_[index];
    return other;
  }
  void destroy(std::uint32_t index) {
    live_--;
    frames_[index]->bytes.clear();
    frames_[index]->damaged = frames_[index]->marked = false;
    free_.push_back(index);
  }
  SimFrame& operator[](std::uint32_t index) { return *frames_[index]; }
  std::size_t live() const { return live_; }

 private:
  std::vector<std::unique_ptr<SimFrame>> frames_;
  std::vector<std::uint32_t> free_;
  std::size_t live_ = 0;
};

}  // namespace omx::simulation
