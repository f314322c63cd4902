// SPDX-License-Identifier: BSD-3-Clause
// Takes up the grants that an earlier broker made, so that jobs survive its death, restart and upgrade.
#pragma once

#include "tools/broker/broker_state.h"

namespace omx::broker {

// Opens the maps that a broker made, by the egress program of one of these boards. `networks` is the folder
// of the private networks. Fails if there is no such program.
Result<GrantMaps> maps_find(const std::vector<link::Choice>& boards, const std::string& networks);

// Opens the maps of an earlier broker as maps_find() does. Makes new ones if there are none.
Result<GrantMaps> maps_adopt(const std::vector<link::Choice>& boards, const std::string& networks);

// Takes up the grants whose sockets are still open. The boards must be set up. Returns how many there are.
std::size_t grants_adopt(BrokerState& state);

}  // namespace omx::broker
