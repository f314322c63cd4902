// SPDX-License-Identifier: BSD-3-Clause
// Names that the system's resolver knows, and the ids of hosts that are reached by UDP.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "wire/udp_nic.h"

namespace omx::runtime {

bool by_udp(NicId nic);  // whether it is such an id
// Resolves "HOST", "HOST:0", "ADDRESS" or "[ADDRESS]:0", since the resolver knows only board 0. `any` gives
// addresses of both families in the resolver's order. May wait for the network.
Result<std::vector<wire::Ip>> resolve_addresses(const std::string& hostname, wire::IpFamily family);
// Returns whether the text is an address, for which the network need not be asked.
bool is_address(const std::string& hostname);
// Returns the NIC id of a host that is reached by UDP at its first address.
Result<NicId> resolve(const std::string& hostname, wire::IpFamily family);
// Returns the NIC id of that address. Fails if another address has the same id.
Result<NicId> nic_told(const wire::Ip& ip);
// Returns the resolver's name of a NIC that is reached by UDP, as "HOST:0". The result is empty unless that
// name leads back to the NIC. May wait for the network.
std::string resolved_name(NicId nic);
// Returns what is wrong with such an id if all boards use addresses of that family; empty if nothing is.
std::string family_objection(NicId nic, wire::IpFamily family);
// Returns the NIC's address as a text that resolve() understands. The result is empty for Ethernet NICs, and
// for IPv6 ids whose address this process does not know.
std::string address_name(NicId nic);

// These functions serve addresses of endpoints that programs pass around. Their result is empty if the
// address is not of IPv6, or not known.
using wire::Ip;
std::optional<Ip> ipv6_of(NicId nic);
// Records an IPv6 address and returns its NIC id. Returns none if the address is not IPv6, or if another
// address has that id.
std::optional<NicId> ipv6_told(const Ip& ip);
// Returns "[IPv6]" if that address is known, else a MAC address.
std::string nic_text(NicId nic);
std::optional<NicId> nic_parse(std::string_view text);

// Returns what the user should check when nothing arrives from a host; `port` is OMX_UDP_PORT.
std::string udp_advice(std::uint16_t port);

}  // namespace omx::runtime
