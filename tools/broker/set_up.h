// SPDX-License-Identifier: BSD-3-Clause
// Sets up the boards of a broker, and takes them down.
#pragma once

#include <memory>
#include <string>

#include "base/expected.h"
#include "tools/broker/broker_state.h"

namespace omx::broker {

// Returns a broker that is ready to serve.
Result<std::unique_ptr<BrokerState>> broker_set_up(Policy policy, const Named& named);

// Returns what all users together may hold.
Holding total_of(const Policy& policy);
// Returns the folder of the private networks, which lies beside the socket.
std::string networks_folder(const Policy& policy);

// Takes down the boards without open endpoints. The next broker takes up the others. Returns how many
// endpoints are open.
std::size_t broker_take_down(BrokerState& state);

// Removes all that brokers left in the kernel of this host. Open endpoints go silent. The program at a NIC
// stays while sockets of a trusted board are open, because it keeps them silent. Returns whether all could be
// removed.
bool broker_clean(const Policy& policy);

}  // namespace omx::broker
