// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/resolver.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "link/udp/udp_directory.h"
#include "link/udp/udp_options.h"

namespace omx::runtime {

using wire::IpFamily;

namespace {

constexpr int kMxHostNotFound = 28;

const char* family_name(IpFamily family) {
  return family == IpFamily::v6 ? "IPv6" : family == IpFamily::v4 ? "IPv4" : "IP";
}

int socket_family(IpFamily family) {
  return family == IpFamily::v6 ? AF_INET6 : family == IpFamily::v4 ? AF_INET : AF_UNSPEC;
}

// Strips the board number, which must be 0. Returns an empty text if the number is another.
std::string host_part(const std::string& hostname) {
  std::string host = hostname, board;
  const std::size_t colon = hostname.find(':');
  if (const std::size_t end = hostname.find(']'); hostname.starts_with('[') && end != std::string::npos) {
    host = hostname.substr(1, end - 1);
    board = hostname.substr(end + 1);
  } else if (colon != std::string::npos && hostname.find(':', colon + 1) == std::string::npos) {
    host = hostname.substr(0, colon);
    board = hostname.substr(colon);
  }
  return board.empty() || board == ":0" ? host : std::string();
}

}  // namespace

bool by_udp(NicId nic) {
  return wire::udp_family(nic) != IpFamily::any;
}

Result<std::vector<Ip>> resolve_addresses(const std::string& hostname, IpFamily family) {
  const std::string host = host_part(hostname);
  addrinfo hints{};
  hints.ai_family = socket_family(family);
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (host.empty() || ::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0 || !found) {
    return fail(kMxHostNotFound,
                fmt::format("\"{}\" has no {} address that the resolver knows; add it to /etc/hosts, or "
                            "give the address instead",
                            shown(hostname), family_name(family)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  std::vector<Ip> all;
  for (const addrinfo* entry = found; entry; entry = entry->ai_next) {
    link::SocketAddress address;
    address.length = entry->ai_addrlen;
    __builtin_memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    all.push_back(link::bulk_address(address).ip);
  }
  return all;
}

bool is_address(const std::string& hostname) {
  in6_addr unused;
  std::string host = host_part(hostname);
  host.resize(std::min(host.find('%'), host.size()));  // strips the interface of a link-local address
  return ::inet_pton(AF_INET, host.c_str(), &unused) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &unused) == 1;
}

Result<NicId> nic_told(const Ip& ip) {
  const NicId nic = wire::udp_nic(ip);
  if (link::udp_directory().told(ip)) return nic;
  return fail(kMxHostNotFound,
              fmt::format("{} and {} make the same NIC id, {}; give one of these hosts another address",
                          link::ip_text(ip), address_name(nic), mac_format(nic)));
}

Result<NicId> resolve(const std::string& hostname, IpFamily family) {
  const auto ips = resolve_addresses(hostname, family);
  if (!ips) return tl::unexpected(ips.error());
  return nic_told(ips->front());
}

std::string resolved_name(NicId nic) {
  const auto ip = link::udp_directory().find(nic);
  if (!ip || !by_udp(nic)) return {};
  const link::SocketAddress address = link::socket_address(*ip, 0, 0);
  char host[NI_MAXHOST];
  if (::getnameinfo(address.get(), address.length, host, sizeof host, nullptr, 0, NI_NAMEREQD) != 0)
    return {};
  const auto back = resolve(host, wire::udp_family(nic));
  return back && *back == nic ? fmt::format("{}:0", host) : std::string();
}

std::string family_objection(NicId nic, IpFamily family) {
  const IpFamily other = wire::udp_family(nic);
  if (other == family) return {};
  return fmt::format(
      "{} is an {} address, but messages go by UDP over {} here; give the host's name or {} address, "
      "or see OMX_LINK",
      mac_format(nic), other == IpFamily::any ? "Ethernet" : family_name(other), family_name(family),
      family_name(family));
}

std::string address_name(NicId nic) {
  const auto ip = link::udp_directory().find(nic);
  return ip && by_udp(nic) ? link::ip_text(*ip) : std::string();
}

std::optional<Ip> ipv6_of(NicId nic) {
  return wire::udp_family(nic) == IpFamily::v6 ? link::udp_directory().find(nic) : std::nullopt;
}

std::optional<NicId> ipv6_told(const Ip& ip) {
  return !wire::is_ipv4(ip) && link::udp_directory().told(ip) ? std::optional(wire::udp_nic(ip))
                                                              : std::nullopt;
}

std::string nic_text(NicId nic) {
  const auto ip = ipv6_of(nic);
  return ip ? fmt::format("[{}]", link::ip_text(*ip)) : mac_format(nic);
}

std::optional<NicId> nic_parse(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return mac_parse(text);
  const std::string inner(text.substr(1, text.size() - 2));
  Ip ip{};
  return ::inet_pton(AF_INET6, inner.c_str(), ip.data()) == 1 ? ipv6_told(ip) : std::nullopt;
}

std::string udp_advice(std::uint16_t port) {
  return fmt::format(
      "let UDP ports {} to {} pass in all firewalls, and set OMX_LINK=udp and the same OMX_UDP_PORT on both "
      "hosts",
      port, port + 2 * link::kUdpBulkPorts - 1);
}

}  // namespace omx::runtime
