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
// The addresses of "HOST", "HOST:0", "ADDRESS" or "[ADDRESS]:0": the resolver knows nothing of other boards.
// `any`: of both families, as it orders them. May wait for the network.
Result<std::vector<wire::Ip>> resolve_addresses(const std::string& hostname, wire::IpFamily family);
// Whether it is an address, for which the network need not be asked.
bool is_address(const std::string& hostname);
// The NIC of a host that is reached by UDP at its first address.
Result<NicId> resolve(const std::string& hostname, wire::IpFamily family);
// The id of that address; fails where another address has the same one.
Result<NicId> nic_told(const wire::Ip& ip);
// What the resolver calls such a NIC, as "HOST:0", if that name leads back to it; else empty. May wait for
// the network.
std::string resolved_name(NicId nic);
// What is wrong with such an id where all addresses are of that family; empty: nothing.
std::string family_objection(NicId nic, wire::IpFamily family);
// Its address, as text that resolve() understands; empty for NICs of Ethernet, and for ids of IPv6 whose
// address this process does not know.
std::string address_name(NicId nic);

// For addresses of endpoints that programs pass around. None: not of IPv6, or not known.
using wire::Ip;
std::optional<Ip> ipv6_of(NicId nic);
// From now on it is known. None: it is not of IPv6, or has another's id.
std::optional<NicId> ipv6_told(const Ip& ip);
// "[IPv6]" where that is known, else as a MAC address.
std::string nic_text(NicId nic);
std::optional<NicId> nic_parse(std::string_view text);

// What to do when nothing comes from there; `port` is OMX_UDP_PORT.
std::string udp_advice(std::uint16_t port);

}  // namespace omx::runtime
