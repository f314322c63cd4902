// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/ip_names.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "link/udp/neighbours.h"
#include "link/udp/udp_directory.h"

namespace omx::runtime {

namespace {

// The addresses of Ethernet NICs that ip_of_nic_told() was given.
class KnownAddresses {
 public:
  void set(NicId nic, const Ip& ip) {
    const std::lock_guard guard(mutex_);
    ips_[{nic, ip_family(ip)}] = ip;
  }
  std::optional<Ip> find(NicId nic, IpFamily family) const {
    const std::lock_guard guard(mutex_);
    const auto found = ips_.find({nic, family});
    if (found == ips_.end()) return std::nullopt;
    return found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<NicId, IpFamily>, Ip> ips_;
};

KnownAddresses& known_addresses() {
  static auto* const all = new KnownAddresses;  // threads may outlive main()
  return *all;
}

}  // namespace

IpFamily ip_family(const Ip& ip) {
  return wire::is_ipv4(ip) ? IpFamily::v4 : IpFamily::v6;
}

std::size_t ip_port_bytes(IpFamily family) {
  static_assert(sizeof(sockaddr_in6) == kIpPortMost);
  return family == IpFamily::v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

std::size_t ip_port_store(const IpPort& address, std::byte* out) {
  const link::SocketAddress socket = link::socket_address(address.ip, address.port, 0);
  std::memcpy(out, &socket.storage, socket.length);
  return socket.length;
}

std::optional<IpPort> ip_port_load(const void* in, std::size_t length) {
  sa_family_t family = AF_UNSPEC;
  if (!in || length < sizeof family) return std::nullopt;
  std::memcpy(&family, in, sizeof family);
  link::SocketAddress socket;
  socket.length = family == AF_INET ? sizeof(sockaddr_in) : family == AF_INET6 ? sizeof(sockaddr_in6) : 0;
  if (socket.length == 0 || length < socket.length) return std::nullopt;
  std::memcpy(&socket.storage, in, socket.length);
  const wire::BulkAddress address = link::bulk_address(socket);
  return IpPort{address.ip, address.port};
}

bool ip_unspecified(const Ip& ip) {
  constexpr Ip kAny4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return ip == Ip{} || ip == kAny4;
}

bool ip_loopback(const Ip& ip) {
  constexpr Ip kLoopback6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return wire::is_ipv4(ip) ? ip[12] == 127 : ip == kLoopback6;
}

std::string ip_text(const Ip& ip) {
  return link::ip_text(ip);
}

std::optional<Ip> ip_parse(const std::string& text) {
  Ip ip{};
  if (::inet_pton(AF_INET6, text.c_str(), ip.data()) == 1) return ip;
  ip[10] = ip[11] = 0xFF;
  if (::inet_pton(AF_INET, text.c_str(), &ip[12]) == 1) return ip;
  return std::nullopt;
}

std::string ip_port_text(const IpPort& address) {
  const std::string ip = link::ip_text(address.ip);
  return wire::is_ipv4(address.ip) ? fmt::format("{}:{}", ip, address.port)
                                   : fmt::format("[{}]:{}", ip, address.port);
}

std::optional<Ip> board_ip(const Board& board, IpFamily family) {
  if (board.udp) {
    if (family != IpFamily::any && family != board.family) return std::nullopt;
    return link::udp_directory().find(board.interface.nic);
  }
  const link::Interface& i = board.interface;
  auto address = link::interface_address(i.name, i.index, family);
  if (!address && !i.master.empty()) address = link::interface_address(i.master, 0, family);
  if (!address) return std::nullopt;
  return address->ip;
}

std::optional<Ip> ip_of_nic(NicId nic, IpFamily family) {
  if (wire::udp_family(nic) == family) return link::udp_directory().find(nic);
  if (const auto ip = known_addresses().find(nic, family)) return ip;
  Netlink kernel(NETLINK_ROUTE);
  const auto found = link::neighbour_address(kernel, nic, family);
  return found ? std::optional(found->ip) : std::nullopt;
}

void ip_of_nic_told(NicId nic, const Ip& ip) {
  if (wire::udp_family(nic) == IpFamily::any) known_addresses().set(nic, ip);
}

}  // namespace omx::runtime
