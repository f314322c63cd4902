// SPDX-License-Identifier: BSD-3-Clause
// IP addresses of NICs, as programs pass them around: IP and port in the form of the socket interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/board/boards.h"
#include "wire/udp_nic.h"

namespace omx::runtime {

using wire::Ip;
using wire::IpFamily;

struct IpPort {
  Ip ip{};
  std::uint16_t port = 0;
  bool operator==(const IpPort&) const = default;
};

inline constexpr std::size_t kIpPortMost = 28;  // size of a sockaddr_in6, the longer of the two
std::size_t ip_port_bytes(IpFamily family);
IpFamily ip_family(const Ip& ip);
// Stores an address as sockaddr_in or sockaddr_in6. `out` has kIpPortMost bytes. Returns the bytes that were
// written.
std::size_t ip_port_store(const IpPort& address, std::byte* out);
// Loads such an address; nullopt if it is neither of the two, or cut off.
std::optional<IpPort> ip_port_load(const void* in, std::size_t length);
bool ip_unspecified(const Ip& ip);  // 0.0.0.0 or ::
bool ip_loopback(const Ip& ip);     // 127.0.0.0/8 or ::1
std::string ip_text(const Ip& ip);
std::optional<Ip> ip_parse(const std::string& text);
// Returns "10.77.0.2:27200" or "[fd4f::2]:27200".
std::string ip_port_text(const IpPort& address);

// Returns the address of that family that the board's interface has, or its bridge or bond. `any` prefers
// IPv4. Returns nullopt if there is none, or if the board is reached by UDP over the other family.
std::optional<Ip> board_ip(const Board& board, IpFamily family);

// Returns the NIC's address of that family. It was given to ip_of_nic_told(), or the kernel's table of
// neighbours has it. Thread-safe, like ip_of_nic_told().
std::optional<Ip> ip_of_nic(NicId nic, IpFamily family);
// Records an address that leads to the NIC. Ids of NICs that are reached by raw frames hold no address.
void ip_of_nic_told(NicId nic, const Ip& ip);

}  // namespace omx::runtime
