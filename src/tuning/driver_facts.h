// SPDX-License-Identifier: BSD-3-Clause
// The meaning that some drivers of Linux give to values that the kernel passes on to them unchanged.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace omx::tuning {

// The UDP ports for which a driver takes flow rules (ethtool -N).
enum class UdpRules : std::uint8_t { ipv4_and_ipv6, ipv4, none };

// A value of rx-usecs that selects a mode instead of a time. The NIC's delay then follows the traffic.
struct DynamicMode {
  std::uint32_t rx_usecs = 0;  // 0: no mode, because 0 switches the delay off with every driver
  std::uint32_t most_us = 0;   // the longest delay
};

struct DriverFacts {
  std::string_view driver;  // as ethtool -i shows it
  std::array<DynamicMode, 3> modes{};
  // The shortest time in us, except 0 and the modes. The driver refuses shorter times.
  std::uint32_t shortest_us = 1;
  UdpRules udp_rules = UdpRules::ipv4_and_ipv6;

  // Returns the longest delay of the mode `rx_usecs`, or 0 if it is a time.
  std::uint32_t dynamic_most_us(std::uint32_t rx_usecs) const {
    for (const DynamicMode& mode : modes)
      if (mode.rx_usecs != 0 && mode.rx_usecs == rx_usecs) return mode.most_us;
    return 0;
  }
};

// Returns the facts of a driver. A driver that is not in the table follows ethtool's manual.
DriverFacts driver_facts(std::string_view driver);

}  // namespace omx::tuning
