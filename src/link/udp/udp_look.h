// SPDX-License-Identifier: BSD-3-Clause
// Finds out whether a program has a UDP port of another host open, as far as a datagram without data shows.
#pragma once

#include <cstdint>

#include "link/udp/udp_address.h"

namespace omx::link {

enum class UdpPort : std::uint8_t {
  closed,    // the host says so (ICMP), so it is up
  silent,    // a program takes the datagram, a filter drops it, or the host is down
  not_sent,  // this host has no way there without a router
};

// Probes the port, for at most `limit_ms`. The datagram leaves by the interface `ifindex`. With 0 the routes
// choose, which link-local addresses do not allow. No router forwards the datagram (link/udp/on_link.h).
UdpPort udp_port_look(const Ip& ip, std::uint16_t port, std::uint32_t ifindex, unsigned limit_ms);

}  // namespace omx::link
