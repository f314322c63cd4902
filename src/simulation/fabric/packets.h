// SPDX-License-Identifier: BSD-3-Clause
// Frames on their way through the fabric, in memory that is reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "simulation/engine/events.h"
#include "simulation/fabric/tree.h"

namespace omx::simulation::fabric {

inline constexpr std::uint32_t kNoFlow = std::numeric_limits<std::uint32_t>::max();

// A frame of a modelled TCP flow has no bytes, but this. Segments are numbered.
struct TcpSegment {
  std::uint32_t flow = kNoFlow;
  bool acknowledges = false;
  std::uint64_t segment = 0;       // sent, or acknowledged by itself
  std::uint64_t transmission = 0;  // number of the sending, and its time
  TimeNs sent = 0;                 //
  std::uint64_t next = 0;          // acknowledgement: all segments before this one have come
  bool marked = false;             // acknowledgement: a queue marked that segment (ECN)
};

struct Packet {
  std::vector<std::byte> bytes;  // of an engine's frame
  TcpSegment tcp;
  std::uint32_t length = 0;  // from the Ethernet header to the end of the payload
  std::uint32_t from = 0, to = 0;
  Path path;
  std::uint8_t hop = 0;  // ports passed
  bool marked = false;

  bool is_tcp() const { return tcp.flow != kNoFlow; }
};

class PacketPool {
 public:
  std::uint32_t create() {
    if (free_.empty()) {
      packets_.emplace_back();
      return static_cast<std::uint32_t>(packets_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    Packet& packet = packets_[index];
    packet.tcp = {};
    packet.hop = 0;
    packet.marked = false;
    return index;
  }
  void destroy(std::uint32_t index) {
    packets_[index].bytes.clear();
    free_.push_back(index);
  }
  Packet& operator[](std::uint32_t index) { return packets_[index]; }
  std::size_t live() const { return packets_.size() - free_.size(); }
  std::size_t most() const { return packets_.size(); }  // that were live at once

 private:
  std::deque<Packet> packets_;
  std::vector<std::uint32_t> free_;
};

}  // namespace omx::simulation::fabric
