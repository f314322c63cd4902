// SPDX-License-Identifier: BSD-3-Clause
// NIC ids of hosts that are reached by UDP: a locally administered prefix, and what their address makes of
// the other four bytes (docs/wire.md 16).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/mac.h"

namespace omx::wire {

using Ip = std::array<std::uint8_t, 16>;  // IPv6, or IPv4 as ::ffff:a.b.c.d

enum class IpFamily : std::uint8_t { any, v4, v6 };

bool is_ipv4(const Ip& ip);
bool is_link_local(const Ip& ip);  // of IPv6

NicId udp_nic(const Ip& ip);
// Of which family's addresses it is an id; any: it is one of Ethernet.
IpFamily udp_family(NicId nic);
// An id of IPv4 is the address. Those of IPv6 do not fit: none.
std::optional<Ip> udp_ipv4(NicId nic);
// The multicast group of the network where the host with that id of IPv6 listens.
Ip udp_group(NicId nic);

}  // namespace omx::wire
