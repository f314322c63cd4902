// SPDX-License-Identifier: BSD-3-Clause
// Whether anything has a UDP port of another host open, as far as a datagram without data tells.
#pragma once

#include <cstdint>

#include "link/udp/udp_address.h"

namespace omx::link {

enum class UdpPort : std::uint8_t {
  closed,    // that host says so (ICMP), so it is up
  silent,    // somebody takes the datagram, or drops it, or the host is down
  not_sent,  // this host has no way there without a router
};

// Waits for at most `limit_ms`. The datagram leaves by the interface `ifindex`; 0: the routes choose, which
// link-local addresses do not allow. No router forwards it (link/udp/on_link.h).
UdpPort udp_port_look(const Ip& ip, std::uint16_t port, std::uint32_t ifindex, unsigned limit_ms);

}  // namespace omx::link
