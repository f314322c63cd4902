// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/resolver.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>

#include <memory>

#include "link/link.h"
#include "link/udp_address.h"

namespace omx::runtime {

bool by_udp(NicId nic) {
  return link::udp_ip(nic).has_value();
}

std::optional<NicId> resolve(const std::string& hostname) {
  const std::size_t colon = hostname.find(':');
  if (colon != std::string::npos && hostname.substr(colon) != ":0") return std::nullopt;
  const std::string host = hostname.substr(0, colon);
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0 || !found) return std::nullopt;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  link::SocketAddress address;
  address.length = found->ai_addrlen;
  __builtin_memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  return link::udp_nic(link::lane_address(address).ip);
}

std::string address_name(NicId nic) {
  const auto ip = link::udp_ip(nic);
  char text[INET_ADDRSTRLEN] = "";
  if (ip) ::inet_ntop(AF_INET, ip->data() + 12, text, sizeof text);
  return text;
}

std::string udp_advice(std::uint16_t port) {
  return fmt::format(
      "let UDP ports {} to {} pass in all firewalls, and give both hosts the same OMX_LINK and OMX_UDP_PORT",
      port, port + 2 * link::kUdpLanePorts - 1);
}

}  // namespace omx::runtime
