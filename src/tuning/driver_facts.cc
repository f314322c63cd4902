// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/driver_facts.h"

#include <algorithm>

namespace omx::tuning {

namespace {

// From the drivers' sources (Linux, drivers/net/ethernet/intel) and documents
// (Documentation/networking/device_drivers/ethernet/intel).
constexpr DriverFacts kDrivers[] = {
    // igb/igb_ethtool.c, igb_set_coalesce: 1 and 3 are modes; 2 and 4 to 9 are refused (IGB_MIN_ITR_USECS
    // 10).
    // igb/igb_main.c, igb_set_itr: the rate falls to IGB_4K_ITR, 4000 interrupts a second.
    // igb_ethtool.c, igb_add_ethtool_nfc_entry: ETHER_FLOW only.
    {"igb", {{{1, 250}, {3, 250}}}, 10, UdpRules::none},
    // igc/igc_ethtool.c, igc_ethtool_set_coalesce and igc_ethtool_add_nfc_rule: as with igb.
    {"igc", {{{1, 250}, {3, 250}}}, 10, UdpRules::none},
    // igbvf/ethtool.c, igbvf_set_coalesce: 2 and 3 are modes; 1 and 4 to 9 are refused.
    {"igbvf", {{{2, 250}, {3, 250}}}, 10},
    // e1000e/ethtool.c, e1000_set_coalesce: 2 and 5 to 9 are refused. e1000e.rst, InterruptThrottleRate: 1 is
    // dynamic, 3 dynamic conservative (4000 to 20000 interrupts a second), 4 simplified balancing (2000 to
    // 8000).
    {"e1000e", {{{1, 250}, {3, 250}, {4, 500}}}, 10},
    // e1000/e1000_ethtool.c, e1000_set_coalesce: as with e1000e.
    {"e1000", {{{1, 250}, {3, 250}, {4, 500}}}, 10},
    // ixgbe/ixgbe_ethtool.c, ixgbe_set_coalesce: 1 is a mode. ixgbe.h: IXGBE_ITR_ADAPTIVE_MAX_USECS 126.
    // ixgbe_ethtool.c, ixgbe_flowspec_to_flow_type: UDP_V4_FLOW, but no flow of IPv6.
    {"ixgbe", {{{1, 126}}}, 1, UdpRules::ipv4},
    // ixgbevf/ethtool.c, ixgbevf_set_coalesce: 1 is a mode. ixgbevf_main.c, ixgbevf_set_itr: the rate falls
    // to IXGBE_12K_ITR.
    {"ixgbevf", {{{1, 84}}}},
};

}  // namespace

DriverFacts driver_facts(std::string_view driver) {
  const auto* const at = std::find_if(std::begin(kDrivers), std::end(kDrivers),
                                      [driver](const DriverFacts& facts) { return facts.driver == driver; });
  return at == std::end(kDrivers) ? DriverFacts{driver} : *at;
}

}  // namespace omx::tuning
