// SPDX-License-Identifier: BSD-3-Clause
// An endpoint's address as libfabric passes it around: 32 bytes that say the same on every host
// (libfabric.md 7.3); as text, fi_omx://MAC/ENDPOINT; or as the socket interface has it, IP address and port
// (docs/libfabric.md, "Addresses of sockets").
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/expected.h"
#include "base/mac.h"
#include "libfabric/service.h"
#include "runtime/board/ip_names.h"

namespace omx::runtime {
class Process;
struct NicFound;
}  // namespace omx::runtime

namespace omx::fabric {

inline constexpr std::uint32_t kAddressFormat = FI_PROV_SPECIFIC | 0x6F6D78;
inline constexpr std::size_t kAddressBytes = 32;
inline constexpr std::size_t kAddressMost = 64;  // in any format
inline constexpr std::uint32_t kAnySession = 0xFFFFFFFF;

struct Address {
  NicId nic = 0;
  std::uint16_t endpoint = kAnyId;      // any: a source that is not open yet
  std::uint32_t session = kAnySession;  // which instance of the endpoint; any: whoever is there
  std::uint16_t port = 0;               // by which the program named the endpoint; 0: not by one
  // By which the program named the NIC, which may have several; all zero: not by one, or its id holds it.
  runtime::Ip ip{};

  // The endpoint that the port stands for (libfabric/service.h).
  void port_set(std::uint16_t named);
};

// Big-endian: magic "OMXF" 0, version 4 (16 bits), endpoint 6 (16), MAC 8 (48 bits), zero 14 (16),
// session 16 (32), zero to 32. Where the MAC is a NIC id of IPv6, which is not enough to send there, version
// 2: the address's first half 8, session 16, second half 20, zero to 32.
void address_store(const Address& address, std::byte* out);
// nullopt: not one.
std::optional<Address> address_load(const std::byte* in);

std::string address_text(const Address& address);
// A number and nothing else; nullopt: not one, or beyond the last endpoint.
std::optional<std::uint16_t> endpoint_parse(std::string_view text);
// "fi_omx://MAC/ENDPOINT", "MAC/ENDPOINT" or "MAC"; "[IPv6]" instead of such a MAC.
std::optional<Address> address_parse(std::string_view text);

// FI_SOCKADDR and those of one family.
bool is_sockaddr(std::uint32_t format);

// In the format that the application asked for: kAddressFormat, FI_ADDR_STR, FI_SOCKADDR_IN or
// FI_SOCKADDR_IN6. Copies what fits and sets `length` to what is needed: -FI_ETOOSMALL if that was more.
// -FI_ENODATA: no IP address of that NIC is known.
int address_write(const Address& address, std::uint32_t format, void* out, std::size_t* length);
// A copy for fi_info, freed by free().
void* address_new(const Address& address, std::uint32_t format, std::size_t& length);
// The error says what is wrong with it. FI_FORMAT_UNSPEC: any of our formats. `own`: it must be of a board of
// this process; else an IP address may have to be asked for on the network.
struct AddressError {
  std::string why;
  int code = FI_EINVAL;  // FI_EHOSTUNREACH: no host was found that has the address
};
using AddressResult = Expected<Address, AddressError>;
AddressResult address_read(const void* in, std::size_t length, std::uint32_t format, bool own = false);
// The address of a host that was found by its name. Formats of sockets need an IP address, which the resolver
// may have to be asked for.
Address address_of_host(runtime::Process& process, const std::string& name, const runtime::NicFound& found,
                        std::uint32_t format);
// Describes the address in such memory without a look-up.
std::string address_show(const void* in, std::uint32_t format);
// How many bytes apart they lie in an array.
std::size_t address_bytes(std::uint32_t format);

}  // namespace omx::fabric
