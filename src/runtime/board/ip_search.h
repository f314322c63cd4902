// SPDX-License-Identifier: BSD-3-Clause
// Which NIC has an IP address: a board of this host, or one that the kernel's table of neighbours names. Raw
// frames know MAC addresses only, while people and programs name hosts by their IP addresses.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "link/udp/neighbours.h"
#include "runtime/board/boards.h"

namespace omx::runtime {

// The kernel's knowledge. Tests make it up.
struct IpFacts {
  std::vector<link::HostAddress> own;
  std::function<std::vector<link::Neighbour>(const link::Ip&)> neighbours;
  // Lets the kernel ask the network for an address.
  std::function<void(const link::Ip&, const link::HostAddress& from)> ask;
};
IpFacts ip_facts_of_kernel();

// How a caller waits for an answer of the network.
struct IpPatience {
  std::uint32_t limit_ms = 0;       // 0: the network is not asked
  std::function<void()> meanwhile;  // called every few milliseconds
};

struct NicFound {
  NicId nic = 0;
  const Board* board = nullptr;  // by which it is reached, or which it is
  // The address by which it was found, where its id does not hold one. None: by a name, or of the loopback
  // interface.
  std::optional<link::Ip> ip = std::nullopt;
};

// The board that has this address, itself or by the bridge or bond it is a port of; the first board for
// addresses of the loopback interface. nullptr: none.
const Board* board_with_ip(const std::vector<Board>& boards, const std::vector<link::HostAddress>& own,
                           const link::Ip& ip);

// The NIC that has one of `ips`, the first that is found, where the boards are reached by raw frames. `host`
// is what they were called, for the reason of a failure (MX_HOST_NOT_FOUND).
Result<NicFound> nic_by_ip(const std::vector<Board>& boards, std::span<const link::Ip> ips,
                           const std::string& host, const IpFacts& facts, const IpPatience& patience);

// Returns whether the two boards have addresses of one IP network, so that a host that reaches one reaches
// both.
bool boards_share_network(const Board& a, const Board& b, const std::vector<link::HostAddress>& own);

}  // namespace omx::runtime
