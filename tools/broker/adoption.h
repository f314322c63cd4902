// SPDX-License-Identifier: BSD-3-Clause
// Takes up the grants that an earlier broker made, so that jobs survive its death, restart and upgrade.
#pragma once

#include <set>

#include "tools/broker/broker_state.h"

namespace omx::broker {

// Opens the maps that a broker made, by the egress program of one of these boards, or of one
// that is gone. `networks` is the folder
// of the private networks. Fails if there is no such program.
Result<GrantMaps> maps_find(const std::vector<link::Choice>& boards, const std::string& networks);

// Opens the maps of an earlier broker as maps_find() does. Makes new ones if there are none.
Result<GrantMaps> maps_adopt(const std::vector<link::Choice>& boards, const std::string& networks);

// Takes up the grants whose sockets are still open, and whose users the policy allows. The boards must be set
// up. Grants of NICs in `awaited` (by ifindex) stay until their board is served. Returns how many were taken
// up.
std::size_t grants_adopt(BrokerState& state, const std::set<std::uint32_t>& awaited);

}  // namespace omx::broker
