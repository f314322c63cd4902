// SPDX-License-Identifier: BSD-3-Clause
// Takes up the grants that an earlier broker made, so that jobs survive its death, restart and upgrade.
#pragma once

#include <map>

#include "tools/broker/broker_state.h"

namespace omx::broker {

// Opens the maps that a broker made, by the egress program of one of these boards, or of one
// that is gone. `networks` is the folder
// of the private networks. Fails if there is no such program.
Result<GrantMaps> maps_find(const std::vector<link::Choice>& boards, const std::string& networks);

// Opens the maps of an earlier broker as maps_find() does. Makes new ones if there are none.
Result<GrantMaps> maps_adopt(const std::vector<link::Choice>& boards, const std::string& networks);

// Takes up the grants whose sockets are still open, and whose users the policy allows. The boards must be set
// up. Grants of boards in `awaited` (by ifindex of the NIC) stay until their board is served, if the policy
// allows them. Returns how many were taken up.
std::size_t grants_adopt(BrokerState& state, const std::map<std::uint32_t, link::Choice>& awaited);

}  // namespace omx::broker
