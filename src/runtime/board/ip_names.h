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

inline constexpr std::size_t kIpPortMost = 28;  // a sockaddr_in6, the longer one
std::size_t ip_port_bytes(IpFamily family);
IpFamily ip_family(const Ip& ip);
// As sockaddr_in or sockaddr_in6; `out` has kIpPortMost bytes. Returns the bytes that were written.
std::size_t ip_port_store(const IpPort& address, std::byte* out);
// nullopt: neither of the two, or cut off.
std::optional<IpPort> ip_port_load(const void* in, std::size_t length);
bool ip_unspecified(const Ip& ip);  // 0.0.0.0 or ::
bool ip_loopback(const Ip& ip);     // 127.0.0.0/8 or ::1
std::string ip_text(const Ip& ip);
std::optional<Ip> ip_parse(const std::string& text);
// "10.77.0.2:27200", "[fd4f::2]:27200".
std::string ip_port_text(const IpPort& address);

// The address of that family that the board's interface has, or the bridge or bond it is a port of. `any`:
// IPv4 before IPv6. nullopt: none; where it is reached by UDP, another family than the one that carries it.
std::optional<Ip> board_ip(const Board& board, IpFamily family);

// The address of that family that the NIC has, as far as this process was told, or the kernel's table of
// neighbours knows. Thread-safe, as is the next.
std::optional<Ip> ip_of_nic(NicId nic, IpFamily family);
// By raw frames an id holds no address: this one leads to it.
void ip_of_nic_told(NicId nic, const Ip& ip);

}  // namespace omx::runtime
