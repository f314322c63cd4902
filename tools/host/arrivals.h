// SPDX-License-Identifier: BSD-3-Clause
// Which processor the kernel takes in the frames of each endpoint on, steered or not: measured for a while.
// A group of packet sockets (PACKET_FANOUT_CPU), one for each processor, gets each frame once, in the socket
// of the processor that handles it. It takes no more rights than packet sockets do.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/expected.h"
#include "netdev/interfaces.h"

namespace omx::tools {

struct Arrivals {
  std::string interface;
  std::map<int, std::vector<std::uint64_t>> endpoints;  // frames by processor
  std::uint64_t missed = 0;                             // that came too fast to be looked at
  bool small_buffers = false;                           // as this process may not have larger ones
};

// The kernel picks the socket by the number of the processor modulo their count, so processors that are
// switched off, and gaps between the numbers, have sockets, too; those off behind the last one only where a
// group holds them all. `numbers`: processors have numbers below it.
std::size_t arrival_sockets(const std::vector<int>& online, int numbers);

// The endpoint that a frame, or the first frame in a UDP datagram, is for; -1: none.
int arrival_endpoint(std::span<const std::byte> packet);

// For people.
std::string arrivals_text(const Arrivals& arrivals);

// Ends before that when somebody ends the program. `udp_port`: of endpoint 0.
Result<Arrivals> arrivals_watch(const link::Interface& interface, std::uint16_t udp_port,
                                std::chrono::seconds duration);

}  // namespace omx::tools
