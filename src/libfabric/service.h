// SPDX-License-Identifier: BSD-3-Clause
// Services (port numbers) by which programs name endpoints. A server opens the endpoint that its service
// stands for. A client that names the same service meets it there, without asking.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace omx::fabric {

// The number of an endpoint that is not open yet, or of which any number will do.
inline constexpr std::uint16_t kAnyId = 0xFFFF;

// The settings that decide which endpoint a port stands for. All hosts of a job have the same.
struct ServiceRule {
  std::uint16_t udp_port = 27200;     // OMX_UDP_PORT
  std::uint32_t endpoints_max = 256;  // OMX_ENDPOINTS_MAX
};
ServiceRule service_rule();

// Returns the endpoint that a port stands for. A port from 0 to 255 is the endpoint's number. A port from
// udp_port on, where endpoints are by UDP, is udp_port plus the number. Any other port stands for an
// endpoint of the upper half: programs that ask for any endpoint get those last. Neighbouring ports stand
// for different endpoints.
constexpr std::uint16_t endpoint_of_port(std::uint16_t port, const ServiceRule& rule) {
  constexpr std::uint16_t kEndpoints = 256;
  if (port < kEndpoints) return port;
  if (port >= rule.udp_port && port - rule.udp_port < kEndpoints)
    return static_cast<std::uint16_t>(port - rule.udp_port);
  const std::uint32_t lower = rule.endpoints_max / 2, upper = rule.endpoints_max - lower;
  return static_cast<std::uint16_t>(lower + port % upper);
}

// Returns the port of an endpoint in addresses of sockets. That of kAnyId is 0.
constexpr std::uint16_t port_of_endpoint(std::uint16_t endpoint, const ServiceRule& rule) {
  return endpoint == kAnyId ? 0 : static_cast<std::uint16_t>(rule.udp_port + endpoint);
}

// Reads a service: a number, or a name that the system knows (/etc/services). nullopt: it is neither.
std::optional<std::uint16_t> service_port(std::string_view service);

}  // namespace omx::fabric
