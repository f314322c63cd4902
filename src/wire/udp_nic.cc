// SPDX-License-Identifier: BSD-3-Clause
#include "wire/udp_nic.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/crc32c.h"

namespace omx::wire {

namespace {

constexpr NicId kPrefix4 = 0x0A55, kPrefix6 = 0x0A56;  // locally administered, unicast
constexpr std::size_t kNumberAt = 12;
constexpr std::array<std::uint8_t, kNumberAt> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
// A transient group of link-local scope that spells "omx".
constexpr std::array<std::uint8_t, kNumberAt> kGroup{0xFF, 0x12, 0, 0, 0, 0, 0, 0, 'o', 'm', 'x', 0};

Ip joined(const std::array<std::uint8_t, kNumberAt>& head, std::uint32_t number) {
  Ip ip{};
  std::copy(head.begin(), head.end(), ip.begin());
  store_be32(reinterpret_cast<std::byte*>(ip.data()) + kNumberAt, number);
  return ip;
}

}  // namespace

bool is_ipv4(const Ip& ip) {
  return std::equal(kMapped.begin(), kMapped.end(), ip.begin());
}

bool is_link_local(const Ip& ip) {
  return ip[0] == 0xFE && (ip[1] & 0xC0) == 0x80;
}

NicId udp_nic(const Ip& ip) {
  if (is_ipv4(ip))
    return kPrefix4 << 32 | load_be32(reinterpret_cast<const std::byte*>(ip.data()) + kNumberAt);
  // A CRC is never the same for two addresses that differ only within 32 consecutive bits, as addresses of
  // one network mostly do.
  return kPrefix6 << 32 | crc32c(0, ip.data(), ip.size());
}

IpFamily udp_family(NicId nic) {
  return nic >> 32 == kPrefix4 ? IpFamily::v4 : nic >> 32 == kPrefix6 ? IpFamily::v6 : IpFamily::any;
}

std::optional<Ip> udp_ipv4(NicId nic) {
  if (udp_family(nic) != IpFamily::v4) return std::nullopt;
  return joined(kMapped, static_cast<std::uint32_t>(nic));
}

Ip udp_group(NicId nic) {
  return joined(kGroup, static_cast<std::uint32_t>(nic));
}

}  // namespace omx::wire
