// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/address.h"

#include <fmt/format.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/bytes.h"
#include "runtime/resolver.h"

namespace omx::fabric {

namespace {

constexpr std::uint32_t kMagic = 0x4F4D5846;  // "OMXF"
constexpr std::uint16_t kVersion = 1, kVersionIpv6 = 2;
constexpr std::size_t kHalf = sizeof(runtime::Ip) / 2;
constexpr std::string_view kScheme = "fi_omx://";
constexpr std::size_t kLongestText = 64;

}  // namespace

void address_store(const Address& address, std::byte* out) {
  std::memset(out, 0, kAddressBytes);
  store_be32(out, kMagic);
  store_be16(out + 4, kVersion);
  store_be16(out + 6, address.endpoint);
  store_be32(out + 16, address.session);
  const auto ip = runtime::ipv6_of(address.nic);
  if (!ip) return mac_store(out + 8, address.nic);
  store_be16(out + 4, kVersionIpv6);
  std::memcpy(out + 8, ip->data(), kHalf);
  std::memcpy(out + 20, ip->data() + kHalf, kHalf);
}

std::optional<Address> address_load(const std::byte* in) {
  const std::uint16_t version = load_be16(in + 4);
  if (load_be32(in) != kMagic || (version != kVersion && version != kVersionIpv6)) return std::nullopt;
  Address address;
  address.endpoint = load_be16(in + 6);
  address.nic = mac_load(in + 8);
  if (version == kVersionIpv6) {
    runtime::Ip ip{};
    std::memcpy(ip.data(), in + 8, kHalf);
    std::memcpy(ip.data() + kHalf, in + 20, kHalf);
    const auto nic = runtime::ipv6_told(ip);
    if (!nic) return std::nullopt;
    address.nic = *nic;
  }
  address.session = load_be32(in + 16);
  if (address.endpoint > 255 && address.endpoint != kAnyId) return std::nullopt;
  return address;
}

std::string address_text(const Address& address) {
  const std::string mac = runtime::nic_text(address.nic);
  if (address.endpoint == kAnyId) return fmt::format("{}{}", kScheme, mac);
  return fmt::format("{}{}/{}", kScheme, mac, address.endpoint);
}

std::optional<std::uint16_t> endpoint_parse(std::string_view text) {
  std::uint16_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size() || id > 255) return std::nullopt;
  return id;
}

std::optional<Address> address_parse(std::string_view text) {
  if (text.starts_with(kScheme)) text.remove_prefix(kScheme.size());
  const std::size_t slash = text.find('/');
  const auto nic = runtime::nic_parse(text.substr(0, slash));
  if (!nic) return std::nullopt;
  Address address;
  address.nic = *nic;
  if (slash == std::string_view::npos) return address;
  const auto id = endpoint_parse(text.substr(slash + 1));
  if (!id) return std::nullopt;
  address.endpoint = *id;
  return address;
}

int address_write(const Address& address, std::uint32_t format, void* out, std::size_t* length) {
  std::byte bytes[kAddressBytes];
  const std::string text = format == FI_ADDR_STR ? address_text(address) : std::string();
  const void* from = text.c_str();
  std::size_t needed = text.size() + 1;
  if (format != FI_ADDR_STR) {
    address_store(address, bytes);
    from = bytes;
    needed = kAddressBytes;
  }
  if (out && *length > 0) std::memcpy(out, from, std::min(needed, *length));
  const bool fits = out && *length >= needed;
  *length = needed;
  return fits ? 0 : -FI_ETOOSMALL;
}

void* address_new(const Address& address, std::uint32_t format, std::size_t& length) {
  length = 0;
  address_write(address, format, nullptr, &length);
  void* memory = std::malloc(length);
  if (memory) address_write(address, format, memory, &length);
  return memory;
}

std::optional<Address> address_read(const void* in, std::size_t length, std::uint32_t format) {
  if (!in) return std::nullopt;
  if (format == FI_ADDR_STR) {
    const auto* text = static_cast<const char*>(in);
    return address_parse({text, ::strnlen(text, std::min(length, kLongestText))});
  }
  if (length < kAddressBytes) return std::nullopt;
  return address_load(static_cast<const std::byte*>(in));
}

}  // namespace omx::fabric
