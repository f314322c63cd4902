// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/info_ends.h"

#include <fmt/format.h>

#include <mutex>

#include "base/text.h"
#include "libfabric/service.h"
#include "runtime/board/ip_names.h"
#include "runtime/clock.h"

namespace omx::fabric {

namespace {

using Found = Expected<runtime::NicFound, std::string>;

// Finds a host by its name. libfabric asks four times for each call of the application. A host that does not
// answer takes the whole time of a look-up, so a failed name is not tried again at once.
Found host_find(runtime::Process& process, const std::string& node) {
  constexpr protocol::TimeNs kFresh = 2'000 * protocol::kMillisecond;
  static auto* const mutex = new std::mutex;
  static auto* const failed = new std::pair<std::string, std::string>;  // name and reason
  static protocol::TimeNs failed_at = 0;
  {
    const std::lock_guard guard(*mutex);
    if (failed->first == node && runtime::clock_now() - failed_at < kFresh)
      return tl::unexpected(failed->second);
  }
  const auto found = process.host_find(node);
  if (found) return *found;
  const std::lock_guard guard(*mutex);
  *failed = {node, found.error().message};
  failed_at = runtime::clock_now();
  return tl::unexpected(found.error().message);
}

// Reads a node of this host: an interface, a MAC or fi_omx:// address, an IP address, or a name.
Expected<Address, std::string> own_find(runtime::Process& process, const char* node) {
  const auto ip = runtime::ip_parse(node);
  if (const runtime::Board* board = process.board_named(node)) {
    Address address{.nic = board->interface.nic};
    if (ip && !board->udp && !runtime::ip_loopback(*ip)) address.ip = *ip;
    return address;
  }
  if (const auto address = address_parse(node)) return *address;
  if (ip && runtime::ip_unspecified(*ip)) return Address{};
  return tl::unexpected(fmt::format("node {} is no interface of this host that Open-MX uses", shown(node)));
}

Expected<Address, std::string> peer_find(runtime::Process& process, const std::string& node,
                                         std::uint32_t format, const runtime::Board*& way) {
  for (const runtime::Board& board : process.boards()) {
    if (board.interface.name == node) return Address{.nic = board.interface.nic};
  }
  if (node.find('/') != std::string::npos) {
    if (const auto address = address_parse(node)) return *address;
  }
  const auto found = host_find(process, node);
  if (!found) return tl::unexpected(found.error());
  way = found->board;
  return address_of_host(process, node, *found, format);
}

// Returns whether FI_NUMERICHOST permits the node, for which the network need not be asked.
bool is_numeric(const char* node) {
  return runtime::ip_parse(node) || address_parse(node);
}

std::string addresses_read(const fi_info& hints, bool with_destination, Ends& ends) {
  if (hints.src_addr) {
    const auto source = address_read(hints.src_addr, hints.src_addrlen, hints.addr_format, true);
    if (!source) return "src_addr: " + source.error().why;
    ends.source = *source;
  }
  if (hints.dest_addr && with_destination) {
    const auto destination = address_read(hints.dest_addr, hints.dest_addrlen, hints.addr_format);
    if (!destination) return "dest_addr: " + destination.error().why;
    ends.destination = *destination;
  }
  return {};
}

}  // namespace

Expected<Ends, std::string> ends_find(runtime::Process& process, const char* node, const char* service,
                                      std::uint64_t flags, const fi_info* hints) {
  Ends ends;
  const bool own = flags & FI_SOURCE;
  if (node && (flags & FI_NUMERICHOST) && !is_numeric(node))
    return tl::unexpected(fmt::format(
        "node {} is neither an IP address nor a MAC address, which FI_NUMERICHOST asks for", shown(node)));
  if (hints) {
    if (std::string why = addresses_read(*hints, own || !node, ends); !why.empty())
      return tl::unexpected(std::move(why));
  }
  std::optional<std::uint16_t> port;
  if (service && !(port = service_port(service)))
    return tl::unexpected(
        fmt::format("service {} is neither a number up to 65535 nor a known name", shown(service)));
  if (node) {
    const auto named =
        own ? own_find(process, node)
            : peer_find(process, node, hints ? hints->addr_format : std::uint32_t{FI_FORMAT_UNSPEC},
                        ends.way);
    if (!named) return tl::unexpected(named.error());
    (own ? ends.source : ends.destination) = *named;
  } else if (port && own) {
    if (!ends.source) ends.source = Address{};
  } else if (port && !ends.destination) {
    ends.destination = Address{.nic = process.boards().front().interface.nic};  // this host
  }
  auto& meant = own ? ends.source : ends.destination;
  if (port && meant) meant->port_set(*port);
  if (ends.destination && ends.destination->endpoint == kAnyId) ends.destination->endpoint = 0;
  return ends;
}

const char* ends_refusal(const runtime::Board& board, bool all, const Ends& ends) {
  const bool named = ends.source && ends.source->nic != 0;
  if (named && ends.source->nic != board.interface.nic) return kOtherSource;
  // A caller that names both ends has decided.
  return !named && !all && ends.way && ends.way != &board ? kOtherWay : nullptr;
}

bool ends_fill(fi_info& offer, const runtime::Board& board, const Ends& ends) {
  Address source = ends.source.value_or(Address{});
  source.nic = board.interface.nic;
  offer.src_addr = address_new(source, offer.addr_format, offer.src_addrlen);
  if (ends.destination)
    offer.dest_addr = address_new(*ends.destination, offer.addr_format, offer.dest_addrlen);
  return offer.src_addr && (offer.dest_addr || !ends.destination);
}

std::uint32_t format_offered(const runtime::Board& board, std::uint32_t wanted) {
  using runtime::IpFamily;
  if (wanted == FI_FORMAT_UNSPEC) return kAddressFormat;
  if (wanted == FI_ADDR_STR || wanted == kAddressFormat) return wanted;
  if (!is_sockaddr(wanted)) return 0;
  const IpFamily family = wanted == FI_SOCKADDR_IN    ? IpFamily::v4
                          : wanted == FI_SOCKADDR_IN6 ? IpFamily::v6
                                                      : IpFamily::any;
  const auto ip = runtime::board_ip(board, family);
  if (!ip) return 0;
  runtime::ip_of_nic_told(board.interface.nic, *ip);
  return runtime::ip_family(*ip) == IpFamily::v4 ? FI_SOCKADDR_IN : FI_SOCKADDR_IN6;
}

}  // namespace omx::fabric
