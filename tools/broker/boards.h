// SPDX-License-Identifier: BSD-3-Clause
// Which boards the broker serves: those that the policy wants and that are there.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "tools/broker/broker_state.h"

namespace omx::broker {

struct Wanted {
  std::vector<link::Choice> choices;  // all interfaces of this host, and whether the policy takes them
  std::vector<std::string> absent;    // what the policy names and this host has not, as sentences
};

// Returns what the policy wants of this host. A NIC that a broker serves already counts as up, so that a
// broken cable does not take it out.
Result<Wanted> boards_wanted(const Policy& policy,
                             const std::vector<std::unique_ptr<ServedBoard>>& served = {});

// Serves the boards that are wanted and not served, and takes up their grants.
void boards_serve(BrokerState& state, const Wanted& wanted);

// Serves boards that have appeared. Boards that could not be served are tried again after a change of the
// NIC.
void boards_appear(BrokerState& state);

// Serves what the policy wants after a change. A board that left the policy, or that it wants in another way,
// is taken down before: `revoke` is called for each of its grants.
using Revoke = std::function<void(std::uint32_t slot, std::string_view why)>;
void boards_reload(BrokerState& state, const Revoke& revoke);

// Returns the names in the folder of the private networks.
std::vector<std::string> networks_list(const std::string& folder);

}  // namespace omx::broker
