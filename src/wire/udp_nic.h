// SPDX-License-Identifier: BSD-3-Clause
// NIC ids of hosts that are reached by UDP: a locally administered prefix, and four bytes made from the
// host's address (docs/reference/wire.md 16).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/mac.h"

namespace omx::wire {

using Ip = std::array<std::uint8_t, 16>;  // IPv6, or IPv4 as ::ffff:a.b.c.d

enum class IpFamily : std::uint8_t { any, v4, v6 };

bool is_ipv4(const Ip& ip);
bool is_link_local(const Ip& ip);  // of IPv6 only

NicId udp_nic(const Ip& ip);
// Returns the family whose addresses have such ids, or `any` for an id of an Ethernet NIC.
IpFamily udp_family(NicId nic);
// Returns the address that an id stands for. Returns nullopt for IPv6, whose addresses do not fit into ids.
std::optional<Ip> udp_ipv4(NicId nic);
// Returns the multicast group of the network in which the host with that IPv6 id listens.
Ip udp_group(NicId nic);

}  // namespace omx::wire
