// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/interfaces_meant.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/number.h"

namespace omx::link {

namespace {

constexpr unsigned kMappedBits = 96;

std::optional<wire::Ip> ip_parse(const std::string& text) {
  wire::Ip ip{};
  if (::inet_pton(AF_INET6, text.c_str(), ip.data()) == 1) return ip;
  ip[10] = ip[11] = 0xFF;
  if (::inet_pton(AF_INET, text.c_str(), &ip[12]) == 1) return ip;
  return std::nullopt;
}

struct Network {
  wire::Ip ip{};
  unsigned bits = 0;  // of the 128
  bool holds(const wire::Ip& other) const {
    if (wire::is_ipv4(ip) != wire::is_ipv4(other)) return false;  // else ::/0 would hold IPv4 addresses
    for (unsigned bit = 0; bit < bits; bit++) {
      if ((ip[bit / 8] ^ other[bit / 8]) >> (7 - bit % 8) & 1) return false;
    }
    return true;
  }
};

std::optional<Network> network_parse(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto ip = ip_parse(std::string(text.substr(0, slash)));
  if (!ip) return std::nullopt;
  const bool ipv4 = wire::is_ipv4(*ip);
  const unsigned most = ipv4 ? 32 : 128;
  std::uint64_t bits = most;
  if (slash < text.size()) {
    const auto given = number_parse(text.substr(slash + 1));
    if (!given || *given > most) return std::nullopt;
    bits = *given;
  }
  return Network{*ip, static_cast<unsigned>(bits) + (ipv4 ? kMappedBits : 0)};
}

// Parses "0000:3b:00.0". Without a domain it is 0000.
std::optional<std::string> pci_parse(std::string_view text) {
  std::string full(text.size() == 7 ? "0000:" : "");
  for (const char c : text) full += c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  constexpr std::string_view kForm = "xxxx:xx:xx.x";
  if (full.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < kForm.size(); i++) {
    const bool digit = (full[i] >= '0' && full[i] <= '9') || (full[i] >= 'a' && full[i] <= 'f');
    if (kForm[i] == 'x' ? !digit : full[i] != kForm[i]) return std::nullopt;
  }
  return full;
}

struct Speed {
  std::int64_t mbps = 0;
  bool at_least = false;
};
constexpr std::string_view kSpeed = "speed";

// Parses "speed=25g" or "speed>=10g"; without a unit it is Mb/s.
std::optional<Speed> speed_parse(std::string_view text) {
  if (!text.starts_with(kSpeed)) return std::nullopt;
  text.remove_prefix(kSpeed.size());
  Speed speed;
  speed.at_least = text.starts_with(">=");
  if (!speed.at_least && !text.starts_with("=")) return std::nullopt;
  text.remove_prefix(speed.at_least ? 2 : 1);
  std::int64_t unit = 1;
  if (!text.empty() && (text.back() == 'g' || text.back() == 'G')) unit = 1000;
  if (!text.empty() && (unit > 1 || text.back() == 'm' || text.back() == 'M')) text.remove_suffix(1);
  const auto number = number_parse(text);
  if (!number || *number == 0 || *number > 10'000'000) return std::nullopt;
  speed.mbps = static_cast<std::int64_t>(*number) * unit;
  return speed;
}

}  // namespace

Term term_of(std::string_view text) {
  if (mac_parse(text)) return Term::mac;
  if (pci_parse(text)) return Term::pci;
  if (network_parse(text)) return Term::network;
  if (speed_parse(text)) return Term::speed;
  // These forms are no names, because interfaces are hardly ever called so.
  const bool like_speed = text.starts_with(kSpeed) && text.find('=') != std::string_view::npos;
  const bool like_address = text.find_first_of(":/") != std::string_view::npos ||
                            (text.find('.') != std::string_view::npos &&
                             text.find_first_not_of("0123456789.") == std::string_view::npos);
  return like_speed || like_address ? Term::malformed : Term::name;
}

bool interface_meant(const Interface& i, std::string_view text) {
  if (i.name == text) return true;
  if (const auto mac = mac_parse(text)) return i.nic == *mac;
  if (const auto pci = pci_parse(text)) return i.pci_address == *pci;
  if (const auto network = network_parse(text)) {
    return std::any_of(i.addresses.begin(), i.addresses.end(),
                       [&](const wire::Ip& ip) { return network->holds(ip); });
  }
  if (const auto speed = speed_parse(text))
    return speed->at_least ? i.speed_mbps >= speed->mbps : i.speed_mbps == speed->mbps;
  return false;
}

}  // namespace omx::link
