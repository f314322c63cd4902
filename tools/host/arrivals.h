// SPDX-License-Identifier: BSD-3-Clause
// Counts for a while on which processor the kernel receives the frames of each endpoint. A group of packet
// sockets (PACKET_FANOUT_CPU), one for each processor, gets each frame once, on the socket of the processor
// that handles the frame. This needs only the right to open packet sockets.
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
  std::uint64_t missed = 0;                             // frames that came too fast to be read
  bool small_buffers = false;                           // this process may not have larger buffers
};

// Returns how many sockets the group needs. The kernel picks the socket by the processor's number modulo
// their count. So processors that are switched off and gaps between the numbers need sockets, too. Sockets
// for processors beyond the last one online are left out where a group could not hold them all. `numbers` is
// one more than the highest possible processor number.
std::size_t arrival_sockets(const std::vector<int>& online, int numbers);

// Returns the endpoint for which a frame, or the first frame in a UDP datagram, is; -1 if there is none.
int arrival_endpoint(std::span<const std::byte> packet);

// Formats the counts for people.
std::string arrivals_text(const Arrivals& arrivals);

// Watches for `duration`, or until a signal ends the program. `udp_port` is the port of endpoint 0.
Result<Arrivals> arrivals_watch(const link::Interface& interface, std::uint16_t udp_port,
                                std::chrono::seconds duration);

}  // namespace omx::tools
