// SPDX-License-Identifier: BSD-3-Clause
// The options of a UDP link.
#pragma once

#include <cstdint>
#include <string>

#include "netdev/zerocopy_mode.h"
#include "wire/udp_nic.h"

namespace omx::link {

struct UdpLinkOptions {
  std::string interface = {};
  std::uint8_t endpoint = 0;
  std::uint16_t port = 0;                           // of endpoint 0; the other endpoints' ports follow
  bool bulk = true;                                 // a second port for large messages, kUdpBulkPorts higher
  wire::IpFamily family = wire::IpFamily::any;      // of the interface's address
  ZerocopyMode zerocopy = ZerocopyMode::automatic;  // of the second port

  std::uint16_t own_port() const { return static_cast<std::uint16_t>(port + endpoint); }
};
inline constexpr std::uint16_t kUdpBulkPorts = 256;

}  // namespace omx::link
