// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/address.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/bytes.h"
#include "libfabric/runtime_process.h"
#include "runtime/board/resolver.h"

namespace omx::fabric {

namespace {

constexpr std::uint32_t kMagic = 0x4F4D5846;  // "OMXF"
constexpr std::uint16_t kVersion = 1, kVersionIpv6 = 2;
constexpr std::size_t kHalf = sizeof(runtime::Ip) / 2;
constexpr std::string_view kScheme = "fi_omx://";

}  // namespace

void Address::port_set(std::uint16_t named) {
  endpoint = endpoint_of_port(named, service_rule());
  port = named;
}

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

bool is_sockaddr(std::uint32_t format) {
  return format == FI_SOCKADDR || format == FI_SOCKADDR_IN || format == FI_SOCKADDR_IN6;
}

std::size_t address_bytes(std::uint32_t format) {
  switch (format) {
    case FI_ADDR_STR:
      return sizeof(const char*);
    case FI_SOCKADDR_IN:
      return runtime::ip_port_bytes(runtime::IpFamily::v4);
    case FI_SOCKADDR_IN6:
      return runtime::ip_port_bytes(runtime::IpFamily::v6);
    default:
      return kAddressBytes;
  }
}

namespace {

// Writes an address of a socket, and returns its bytes. 0: the IP address of the NIC is not known.
std::size_t sockaddr_store(const Address& address, std::uint32_t format, std::byte* out) {
  const auto family = format == FI_SOCKADDR_IN6 ? runtime::IpFamily::v6 : runtime::IpFamily::v4;
  const bool named = address.ip != runtime::Ip{} && runtime::ip_family(address.ip) == family;
  const auto ip = named ? std::optional(address.ip) : runtime::ip_of_nic(address.nic, family);
  if (!ip) return 0;
  const std::uint16_t port = address.port ? address.port : port_of_endpoint(address.endpoint, service_rule());
  return runtime::ip_port_store({*ip, port}, out);
}

bool family_fits(const runtime::IpPort& address, std::uint32_t format) {
  const bool v4 = runtime::ip_family(address.ip) == runtime::IpFamily::v4;
  return format == FI_SOCKADDR || format == FI_FORMAT_UNSPEC ||
         format == (v4 ? FI_SOCKADDR_IN : FI_SOCKADDR_IN6);
}

AddressResult sockaddr_read(const runtime::IpPort& from, bool own) {
  const auto process = runtime_of_process();
  if (!process) return tl::unexpected(AddressError{process.error().message, FI_ENODEV});
  Address address;
  if (from.port != 0) address.port_set(from.port);
  if (runtime::ip_unspecified(from.ip)) {
    if (own) return address;
    return tl::unexpected(AddressError{runtime::ip_text(from.ip) + " names no host"});
  }
  if (own) {
    const runtime::Board* board = (*process)->board_named(runtime::ip_text(from.ip));
    if (!board)
      return tl::unexpected(
          AddressError{runtime::ip_text(from.ip) + " is no address of a board of this process"});
    address.nic = board->interface.nic;
    if (!board->udp && !runtime::ip_loopback(from.ip)) address.ip = from.ip;
    return address;
  }
  const auto found = (*process)->host_at(from.ip);
  if (!found) return tl::unexpected(AddressError{found.error().message, FI_EHOSTUNREACH});
  address.nic = found->nic;
  address.ip = found->ip.value_or(runtime::Ip{});
  return address;
}

constexpr std::string_view kMalformed = "it is no address of this provider";

AddressResult of(const std::optional<Address>& address) {
  if (!address) return tl::unexpected(AddressError{std::string(kMalformed)});
  return *address;
}

bool looks_like_ours(const void* in, std::size_t length) {
  return length >= kAddressBytes && load_be32(static_cast<const std::byte*>(in)) == kMagic;
}

bool looks_like_text(const void* in, std::size_t length) {
  return length > kScheme.size() && std::memcmp(in, kScheme.data(), kScheme.size()) == 0;
}

}  // namespace

int address_write(const Address& address, std::uint32_t format, void* out, std::size_t* length) {
  std::byte bytes[kAddressBytes];
  static_assert(runtime::kIpPortMost <= sizeof bytes);
  const std::string text = format == FI_ADDR_STR ? address_text(address) : std::string();
  const void* from = bytes;
  std::size_t needed = kAddressBytes;
  if (format == FI_ADDR_STR) {
    from = text.c_str();
    needed = text.size() + 1;
  } else if (is_sockaddr(format)) {
    needed = sockaddr_store(address, format, bytes);
  } else {
    address_store(address, bytes);
  }
  const std::size_t room = out ? *length : 0;
  *length = needed;
  if (needed == 0) return -FI_ENODATA;
  if (room > 0) std::memcpy(out, from, std::min(needed, room));
  return room >= needed ? 0 : -FI_ETOOSMALL;
}

void* address_new(const Address& address, std::uint32_t format, std::size_t& length) {
  length = 0;
  if (address_write(address, format, nullptr, &length) == -FI_ENODATA) return nullptr;
  void* memory = std::malloc(length);
  if (memory) address_write(address, format, memory, &length);
  return memory;
}

AddressResult address_read(const void* in, std::size_t length, std::uint32_t format, bool own) {
  if (!in) return of(std::nullopt);
  if (format == FI_ADDR_STR || (format == FI_FORMAT_UNSPEC && looks_like_text(in, length))) {
    const auto* text = static_cast<const char*>(in);
    return of(address_parse({text, ::strnlen(text, std::min(length, kAddressMost))}));
  }
  if (is_sockaddr(format) || (format == FI_FORMAT_UNSPEC && !looks_like_ours(in, length))) {
    const auto address = runtime::ip_port_load(in, length);
    if (!address || !family_fits(*address, format)) return of(std::nullopt);
    return sockaddr_read(*address, own);
  }
  if (length < kAddressBytes) return of(std::nullopt);
  return of(address_load(static_cast<const std::byte*>(in)));
}

Address address_of_host(runtime::Process& process, const std::string& name, const runtime::NicFound& found,
                        std::uint32_t format) {
  using runtime::IpFamily;
  Address address{.nic = found.nic, .ip = found.ip.value_or(runtime::Ip{})};
  const bool own = found.board && found.board->interface.nic == found.nic;
  if (!is_sockaddr(format) || own) return address;
  for (const auto& [family, other] : {std::pair<IpFamily, std::uint32_t>{IpFamily::v4, FI_SOCKADDR_IN6},
                                      std::pair<IpFamily, std::uint32_t>{IpFamily::v6, FI_SOCKADDR_IN}}) {
    if (format == other) continue;
    if (found.ip && runtime::ip_family(*found.ip) == family) break;
    auto ip = runtime::ip_of_nic(found.nic, family);
    if (!ip) ip = process.host_ip(name, found.nic, family);
    if (!ip) continue;
    address.ip = *ip;
    break;
  }
  return address;
}

std::string address_show(const void* in, std::uint32_t format) {
  if (is_sockaddr(format)) {
    const auto address = runtime::ip_port_load(in, in ? address_bytes(format) : 0);
    if (!address) return "not an address";
    const bool v4 = runtime::ip_family(address->ip) == runtime::IpFamily::v4;
    return fmt::format("fi_sockaddr_in{}://{}", v4 ? "" : "6", runtime::ip_port_text(*address));
  }
  const auto address = address_read(in, SIZE_MAX, format);
  return address ? address_text(*address) : "not an address";
}

}  // namespace omx::fabric
