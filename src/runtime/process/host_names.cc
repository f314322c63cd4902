// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/process/host_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.h"
#include "base/text.h"
#include "broker/board_mac.h"
#include "runtime/board/ip_names.h"
#include "runtime/board/peers_discovery.h"
#include "runtime/board/resolver.h"

namespace omx::runtime {

namespace {

constexpr int kMxHostNotFound = 28;
// A broker answers within a millisecond, except on a busy host.
constexpr std::uint32_t kBrokerMs = 250;

// Returns a board for "localhost" or "localhost:N". These names mean our boards even if the loopback
// interface is none of them.
const Board* board_by_localhost(const std::vector<Board>& boards, std::string_view hostname) {
  constexpr std::string_view kLocal = "localhost";
  if (!hostname.starts_with(kLocal)) return nullptr;
  hostname.remove_prefix(kLocal.size());
  if (hostname.empty()) return boards.empty() ? nullptr : &boards.front();
  if (hostname.front() != ':') return nullptr;
  const auto number = number_parse(hostname.substr(1));
  return number && *number < boards.size() ? &boards[*number] : nullptr;
}

std::string reason_of(const Result<bool>& asked, std::uint32_t discovery_ms) {
  if (!asked) return fmt::format("the network could not be asked: {}", asked.error().message);
  if (discovery_ms == 0) return "the network was not asked (OMX_DISCOVERY_MS=0)";
  return fmt::format("no host answered within {} ms (OMX_DISCOVERY_MS)", discovery_ms);
}

}  // namespace

Result<bool> HostNames::discover(NicId nic, const std::function<bool()>& found) {
  if (settings_.discovery_ms == 0) return false;
  return peers_discover(boards_.found(), settings_, peers_, {nic, found, [this] { endpoints_.help(); }});
}

// Finds one of our boards by its name. A MAC address works even if the board is reached by UDP.
const Board* HostNames::board_by_own_name(const std::string& hostname) const {
  const auto mac = mac_parse(hostname);
  if (mac) {
    for (const Board& board : boards_.now())
      if (board.mac == *mac || board.interface.nic == *mac) return &boards_.found()[board.number];
  }
  return board_by_localhost(boards_.found(), hostname);
}

Result<NicFound> HostNames::host_find(const std::string& hostname) {
  const bool udp = boards_by_udp(boards_.found());
  const auto peer = peers_.find(hostname);
  if (peer && (!udp || wire::udp_family(peer->nic) == boards_family(boards_.found())))
    return NicFound{peer->nic, boards_.of(peer->nic)};
  if (const Board* board = board_by_own_name(hostname)) return NicFound{board->interface.nic, board};
  return udp ? host_find_by_udp(hostname) : host_find_by_frames(hostname);
}

const Board* HostNames::board_named(const std::string& name) {
  for (const Board& board : boards_.found()) {
    if (board.interface.name == name) return &board;
  }
  if (const auto peer = peers_.find(name)) return boards_.of(peer->nic);
  if (const Board* board = board_by_own_name(name)) return board;
  if (mac_parse(name)) return nullptr;
  const auto ips = resolve_addresses(name, link::IpFamily::any);
  if (!ips) return nullptr;
  const auto own = link::host_addresses();
  for (const link::Ip& ip : *ips) {
    if (const Board* board = board_with_ip(boards_.found(), own, ip)) return board;
  }
  return nullptr;
}

// Returns the board that the broker of a NIC's host serves on that NIC. Returns the NIC itself if this
// process does not use brokers, or if that host has none.
NicId HostNames::board_of_broker(NicId nic) {
  if (!boards_granted(boards_.found())) return nic;
  const NicId board = broker::board_mac(nic);
  const auto known = [&] {
    const auto peer = peers_.find(board);
    return peer && !peer->name.empty();
  };
  if (known()) return board;
  Settings settings = settings_;
  settings.discovery_ms = std::min(settings.discovery_ms, kBrokerMs);
  if (settings.discovery_ms == 0) return nic;
  const auto asked =
      peers_discover(boards_.found(), settings, peers_, {board, known, [this] { endpoints_.help(); }});
  return asked.value_or(false) ? board : nic;
}

// Finds a host at one of its addresses. By UDP that is the first one in the resolver's order.
Result<NicFound> HostNames::host_at_any(std::span<const link::Ip> ips, const std::string& hostname) {
  if (!boards_by_udp(boards_.found())) {
    const IpPatience patience{settings_.discovery_ms, [this] { endpoints_.help(); }};
    auto found = nic_by_ip(boards_.found(), ips, hostname, ip_facts_of_kernel(), patience);
    if (found && !boards_.of(found->nic)) found->nic = board_of_broker(found->nic);
    if (found && found->ip && !boards_.of(found->nic)) ip_of_nic_told(found->nic, *found->ip);
    return found;
  }
  const auto own = link::host_addresses();
  for (const link::Ip& ip : ips) {
    if (const Board* board = board_with_ip(boards_.found(), own, ip))
      return NicFound{board->interface.nic, board};
  }
  const auto nic = nic_told(ips.front());
  if (!nic) return tl::unexpected(nic.error());
  const auto from = link::route_source(ips.front());
  return NicFound{*nic, from ? board_with_ip(boards_.found(), own, *from) : nullptr};
}

Result<NicFound> HostNames::host_at(const link::Ip& ip) {
  const std::string text = link::ip_text(ip);
  if (boards_by_udp(boards_.found())) {
    const std::string objection = family_objection(wire::udp_nic(ip), boards_family(boards_.found()));
    if (!objection.empty()) return fail(kMxHostNotFound, fmt::format("{}: {}", text, objection));
  }
  return host_at_any(std::span(&ip, 1), text);
}

std::optional<Ip> HostNames::host_ip(const std::string& hostname, NicId nic, IpFamily family) {
  if (boards_by_udp(boards_.found())) return std::nullopt;
  const auto ips = resolve_addresses(hostname, family);
  if (!ips) return std::nullopt;
  for (const Ip& ip : *ips) {
    const auto found = host_at_any(std::span(&ip, 1), hostname);
    if (found && found->nic == nic) return ip;
  }
  return std::nullopt;
}

Result<NicFound> HostNames::host_find_by_udp(const std::string& hostname) {
  const link::IpFamily family = boards_family(boards_.found());
  if (const auto nic = mac_parse(hostname)) {
    const std::string objection = family_objection(*nic, family);
    if (objection.empty()) return NicFound{*nic, nullptr};
    return fail(kMxHostNotFound, objection);
  }
  const auto ips = resolve_addresses(hostname, family);
  if (!ips) return tl::unexpected(ips.error());
  return host_at_any(*ips, hostname);
}

Result<NicFound> HostNames::host_find_by_frames(const std::string& hostname) {
  if (const auto nic = mac_parse(hostname)) return NicFound{*nic, nullptr};
  Result<bool> asked = false;
  if (!is_address(hostname)) {
    std::optional<Peer> peer;
    asked = discover(kBroadcastNic, [&] {
      peer = peers_.find(hostname);
      return peer.has_value();
    });
    if (peer) return NicFound{peer->nic, boards_.of(peer->nic)};
  }
  const auto ips = resolve_addresses(hostname, link::IpFamily::any);
  if (ips) return host_at_any(*ips, hostname);
  return fail(
      kMxHostNotFound,
      fmt::format(
          "\"{}\" is not in the table of peers, the resolver knows no address of it, and {}; give its "
          "MAC address instead, or name it in OMX_PEERS=\"MAC NAME\"",
          shown(hostname), reason_of(asked, settings_.discovery_ms)));
}

Result<NicId> HostNames::nic_of(const std::string& hostname) {
  return host_find(hostname).map([](const NicFound& found) { return found.nic; });
}

Result<std::string> HostNames::name_of(NicId nic) {
  std::optional<Peer> peer = peers_.find(nic);
  if (peer && !peer->name.empty()) return peer->name;
  if (boards_by_udp(boards_.found()) && by_udp(nic)) {
    if (const std::string name = resolved_name(nic); !name.empty()) return name;
    const std::string address = address_name(nic);
    return address.empty() ? mac_format(nic) : address;
  }
  const auto asked = discover(nic, [&] {
    peer = peers_.find(nic);
    return peer && !peer->name.empty();
  });
  if (peer) return peer->name;  // empty if the NIC was seen on the network but gave no name
  return fail(kMxHostNotFound, fmt::format("{} is not in the table of peers, and {}", mac_format(nic),
                                           reason_of(asked, settings_.discovery_ms)));
}

}  // namespace omx::runtime
