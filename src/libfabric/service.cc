// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/service.h"

#include <netdb.h>
#include <netinet/in.h>

#include <charconv>
#include <memory>
#include <string>

#include "libfabric/runtime_process.h"

namespace omx::fabric {

ServiceRule service_rule() {
  const auto process = runtime_of_process();
  if (!process) return {};
  return {(*process)->settings().udp_port, (*process)->settings().endpoints_max};
}

std::optional<std::uint16_t> service_port(std::string_view service) {
  std::uint16_t port = 0;
  const char* const end = service.data() + service.size();
  const auto [stop, error] = std::from_chars(service.data(), end, port);
  if (error == std::errc{} && stop == end) return port;
  if (service.empty() || stop != service.data()) return std::nullopt;  // "70000", "12x"
  addrinfo hints{};
  hints.ai_family = AF_INET;
  addrinfo* found = nullptr;
  if (::getaddrinfo(nullptr, std::string(service).c_str(), &hints, &found) != 0 || !found)
    return std::nullopt;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  return ntohs(reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_port);
}

}  // namespace omx::fabric
