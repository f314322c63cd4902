// SPDX-License-Identifier: BSD-3-Clause
// Finds the NIC that has an IP address: a board of this host, or a NIC in the kernel's table of neighbours.
// Raw frames know MAC addresses only, while people and programs name hosts by their IP addresses.
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

// The kernel's knowledge of addresses. Tests make it up.
struct IpFacts {
  std::vector<link::HostAddress> own;
  std::function<std::vector<link::Neighbour>(const link::Ip&)> neighbours;
  // Makes the kernel ask the network for an address.
  std::function<void(const link::Ip&, const link::HostAddress& from)> ask;
};
IpFacts ip_facts_of_kernel();

// How a caller waits for an answer from the network.
struct IpPatience {
  std::uint32_t limit_ms = 0;       // 0: the network is not asked
  std::function<void()> meanwhile;  // called every few milliseconds
};

struct NicFound {
  NicId nic = 0;
  const Board* board = nullptr;  // that reaches the NIC, or is the NIC
  // The address by which the NIC was found, if its id holds no address. None if it was found by a name or by
  // an address of the loopback interface.
  std::optional<link::Ip> ip = std::nullopt;
};

// Returns the board that has this address, itself or by the bridge or bond that it is a port of. Addresses
// of the loopback interface give the first board. Returns nullptr if there is none.
const Board* board_with_ip(const std::vector<Board>& boards, const std::vector<link::HostAddress>& own,
                           const link::Ip& ip);

// Returns the first NIC that has one of `ips`. The boards are reached by raw frames. `host` is the name that
// the user gave, for the text of a failure (MX_HOST_NOT_FOUND).
Result<NicFound> nic_by_ip(const std::vector<Board>& boards, std::span<const link::Ip> ips,
                           const std::string& host, const IpFacts& facts, const IpPatience& patience);

// Returns whether the two boards have addresses of one IP network. If so, a host that reaches one reaches
// both.
bool boards_share_network(const Board& a, const Board& b, const std::vector<link::HostAddress>& own);

}  // namespace omx::runtime
