// SPDX-License-Identifier: BSD-3-Clause
// What single drivers of Linux mean by values that the kernel passes on to them as they are.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace omx::tuning {

// Which UDP ports a driver takes flow rules for (ethtool -N).
enum class UdpRules : std::uint8_t { ipv4_and_ipv6, ipv4, none };

// A value of rx-usecs that is no time: the NIC's delay then follows the traffic.
struct DynamicMode {
  std::uint32_t rx_usecs = 0;  // 0: none, as that switches the delay off with every driver
  std::uint32_t most_us = 0;   // the longest delay
};

struct DriverFacts {
  std::string_view driver;  // as ethtool -i has it
  std::array<DynamicMode, 3> modes{};
  // The shortest time in us, beside 0 and the modes: the driver refuses what is shorter.
  std::uint32_t shortest_us = 1;
  UdpRules udp_rules = UdpRules::ipv4_and_ipv6;

  // The longest delay of the mode that `rx_usecs` is; 0: it is a time.
  std::uint32_t dynamic_most_us(std::uint32_t rx_usecs) const {
    for (const DynamicMode& mode : modes)
      if (mode.rx_usecs != 0 && mode.rx_usecs == rx_usecs) return mode.most_us;
    return 0;
  }
};

// A driver that is not in the table means what ethtool's manual says.
DriverFacts driver_facts(std::string_view driver);

}  // namespace omx::tuning
