// SPDX-License-Identifier: BSD-3-Clause
// Names of hosts that are reached by UDP: the system's resolver knows them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/mac.h"

namespace omx::runtime {

bool by_udp(NicId nic);  // whether it is such an id
// "HOST", "HOST:0" or an IPv4 address: the resolver knows nothing of other boards. May wait for the network.
std::optional<NicId> resolve(const std::string& hostname);
// The address in the id, as text that resolve() understands; empty for NICs of Ethernet.
std::string address_name(NicId nic);
// What to do when nothing comes from there; `port` is OMX_UDP_PORT.
std::string udp_advice(std::uint16_t port);

}  // namespace omx::runtime
