// SPDX-License-Identifier: BSD-3-Clause
// Ways to hand data to the kernel: packet sockets, their transmit ring, AF_XDP, and UDP with and without a
// copy. Each sends a piece of user memory behind a header of its own, as Open-MX does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/floors/floor_raw.h"

namespace omx::bench {

struct SendTarget {
  std::string interface;   // name
  NicId mac = 0;           // the receiver's
  std::string address;     // the receiver's, IPv4
  std::uint16_t port = 0;  // its UDP port
  std::size_t frame = 0;   // data bytes of a frame or datagram, without our header
  bool zero_copy = false;  // AF_XDP: the driver reads our memory, or the way fails
};

class SendWay {
 public:
  virtual ~SendWay() = default;
  // Hands data over, blocking while queues are full. Returns how many of the bytes the kernel took.
  virtual std::size_t send(const std::byte* data, std::size_t bytes) = 0;
  // Returns what is worth telling at the end, or nothing.
  virtual std::string remark() { return {}; }
};

// Returns the names of the ways.
const std::vector<std::string>& send_ways();
// Opens a way, or ends the program if it cannot be had here (status 77).
std::unique_ptr<SendWay> send_way_open(const std::string& name, const SendTarget& target);

std::unique_ptr<SendWay> packet_way_open(bool aligned, const SendTarget& target);
std::unique_ptr<SendWay> ring_way_open(const SendTarget& target);
std::unique_ptr<SendWay> xdp_way_open(const SendTarget& target);
// A GSO batch is frames with a header each, or one frame that the kernel cuts.
std::unique_ptr<SendWay> udp_way_open(bool one_header, bool zerocopy, const SendTarget& target);

}  // namespace omx::bench
