// SPDX-License-Identifier: BSD-3-Clause
// An endpoint's address as libfabric passes it around, in three forms. The first is 32 bytes that mean the
// same on every host (docs/spec/libfabric.md 7.3). The second is the text fi_omx://MAC/ENDPOINT. The third
// is an IP address with a port, as in the socket interface (docs/reference/libfabric.md, "Addresses of
// sockets").
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
#include "libfabric/versions.h"
#include "runtime/board/ip_names.h"

namespace omx::runtime {
class Process;
struct NicFound;
}  // namespace omx::runtime

namespace omx::fabric {

inline constexpr std::uint32_t kAddressFormat = kOwnRange | 0x6F6D78;
inline constexpr std::size_t kAddressBytes = 32;
inline constexpr std::size_t kAddressMost = 64;  // bytes, in any format
inline constexpr std::uint32_t kAnySession = 0xFFFFFFFF;

struct Address {
  NicId nic = 0;
  std::uint16_t endpoint = kAnyId;      // kAnyId: of a source that is not open yet
  std::uint32_t session = kAnySession;  // the incarnation of the endpoint; kAnySession: any
  std::uint16_t port = 0;               // by which the program named the endpoint; 0: it named no port
  // The IP address by which the program named the NIC, which may have several. All zero: it named none, or
  // the NIC's id holds the address.
  runtime::Ip ip{};

  // Makes the address that of the endpoint which the port stands for (libfabric/service.h).
  void port_set(std::uint16_t named);
};

// Writes the 32 bytes, big-endian: magic "OMXF" 0, version 4 (16 bits), endpoint 6 (16), MAC 8 (48 bits),
// zero 14 (16), session 16 (32), zero to 32. A NIC id of IPv6 is not enough to send there. It makes version
// 2: the IP address's first half 8, session 16, second half 20, zero to 32.
void address_store(const Address& address, std::byte* out);
// Reads the 32 bytes. nullopt: they are no address.
std::optional<Address> address_load(const std::byte* in);

// Returns the address as text, fi_omx://MAC/ENDPOINT.
std::string address_text(const Address& address);
// Reads the number of an endpoint. nullopt: it is no number, or beyond the last endpoint.
std::optional<std::uint16_t> endpoint_parse(std::string_view text);
// Reads "fi_omx://MAC/ENDPOINT", "MAC/ENDPOINT" or "MAC". "[IPv6]" may stand for a MAC.
std::optional<Address> address_parse(std::string_view text);

// Returns whether the format is FI_SOCKADDR, or that of one family.
bool is_sockaddr(std::uint32_t format);

// Writes the address in the format that the application asked for: kAddressFormat, FI_ADDR_STR,
// FI_SOCKADDR_IN or FI_SOCKADDR_IN6. Copies what fits and sets `length` to the bytes that are needed. Returns
// 0, -FI_ETOOSMALL if not all fitted, or -FI_ENODATA if no IP address of that NIC is known.
int address_write(const Address& address, std::uint32_t format, void* out, std::size_t* length);
// Returns a copy for fi_info, which free() frees. nullptr: there is no memory, or no IP address of that NIC.
void* address_new(const Address& address, std::uint32_t format, std::size_t& length);
// Why an address cannot be read.
struct AddressError {
  std::string why;
  int code = FI_EINVAL;  // FI_EHOSTUNREACH: no host was found that has the address
};
using AddressResult = Expected<Address, AddressError>;
// Reads an address of that format. FI_FORMAT_UNSPEC stands for any of our formats. With `own` it must be of a
// board of this process. Otherwise the network may have to be asked for an IP address.
AddressResult address_read(const void* in, std::size_t length, std::uint32_t format, bool own = false);
// Returns the address of a host that was found by its name. Formats of sockets need an IP address, for which
// the resolver may have to be asked.
Address address_of_host(runtime::Process& process, const std::string& name, const runtime::NicFound& found,
                        std::uint32_t format);
// Describes the address in memory of that format. Makes no look-up.
std::string address_show(const void* in, std::uint32_t format);
// Returns how many bytes apart addresses of that format lie in an array.
std::size_t address_bytes(std::uint32_t format);

}  // namespace omx::fabric
