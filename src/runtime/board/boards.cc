// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/boards.h"

#include <fmt/format.h>

#include <cerrno>
#include <optional>

#include "base/host_name.h"
#include "base/log.h"
#include "link/packet/packet_socket.h"
#include "link/udp/udp_directory.h"
#include "netdev/interfaces_choose.h"
#include "runtime/board/broker_boards.h"
#include "wire/board_hostname.h"

namespace omx::runtime {

namespace {

constexpr int kMxNoDev = 5;

// Names the board "host:number". As Open-MX 1.x does, calls the loopback device "localhost" without a
// number.
std::string board_hostname(const Settings& settings, const Board& board) {
  if (board.interface.loopback) return "localhost";
  return wire::board_hostname(settings.hostname.empty() ? host_name("localhost") : settings.hostname,
                              board.number);
}

// Lists some refusals only: error texts have a maximal length (docs/spec/mx-api.md 5).
std::string refusals(const std::vector<link::Choice>& choices) {
  constexpr int kMost = 3;
  std::string text;
  int count = 0;
  for (const link::Choice& choice : choices) {
    if (choice.interface.loopback) continue;
    if (count++ == kMost) return text + "; ...";
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", choice.interface.name, choice.reason);
  }
  return text.empty() ? "there is none" : text;
}

using link::IpFamily;

// Which addresses carry the boards of a host. Peers need addresses of the same kind, so all boards have one
// kind. Every interface that is up has a link-local address, so these count only on hosts without others.
enum class IpReach : std::uint8_t { ipv4, ipv6, link_local };

IpReach reach_of(const link::InterfaceAddress& address) {
  if (link::is_ipv4(address.ip)) return IpReach::ipv4;
  return wire::is_link_local(address.ip) ? IpReach::link_local : IpReach::ipv6;
}

bool raw_frames(LinkKind kind) {
  return kind == LinkKind::ethernet || kind == LinkKind::xdp;
}

IpFamily family_of(LinkKind kind) {
  return kind == LinkKind::udp4 ? IpFamily::v4 : kind == LinkKind::udp6 ? IpFamily::v6 : IpFamily::any;
}

std::optional<IpReach> best_reach(const std::vector<link::Choice>& choices, IpFamily family) {
  std::optional<IpReach> best;
  for (const link::Choice& choice : choices) {
    const link::Interface& interface = choice.interface;
    const auto address =
        choice.taken ? link::interface_address(interface.name, interface.index, family) : std::nullopt;
    if (address && (!best || reach_of(*address) < *best)) best = reach_of(*address);
  }
  return best;
}

const char* missing_text(IpFamily family, std::optional<IpReach> reach) {
  if (reach == IpReach::ipv4 || family == IpFamily::v4)
    return "no IPv4 address, by which messages go here (OMX_LINK)";
  if (reach == IpReach::ipv6) return "no IPv6 address but a link-local one, and others have more";
  return family == IpFamily::v6 ? "no IPv6 address, which OMX_LINK=udp6 needs"
                                : "no IP address, which OMX_LINK=udp needs";
}

// Describes the interface as a UDP link shows it. Returns false, with the reason, if it has no such address.
bool udp_fit(link::Choice& choice, IpFamily& family, std::optional<IpReach> reach, std::uint32_t& mtu) {
  link::Interface& interface = choice.interface;
  const auto address = link::interface_address(interface.name, interface.index,
                                               reach == IpReach::ipv4 ? IpFamily::v4 : family);
  if (!address || reach_of(*address) != reach) {
    choice.reason = missing_text(family, reach);
    return false;
  }
  family = link::is_ipv4(address->ip) ? IpFamily::v4 : IpFamily::v6;
  link::udp_directory().told(address->ip);
  interface.nic = link::udp_nic(address->ip);
  mtu = link::udp_mtu(interface.mtu, *address);
  return true;
}

// Returns errno of opening a packet socket, or 0. Does not try where the settings decide: closing such a
// socket takes milliseconds.
int frames_error_of(const Settings& settings) {
  const bool decides = settings.link == LinkKind::automatic ||
                       (settings.link == LinkKind::ethernet && settings.broker != "off");
  return decides ? frames_possible() : 0;
}

bool by_udp(const Settings& settings, int error, std::optional<IpReach> reach) {
  if (settings.link != LinkKind::automatic) return !raw_frames(settings.link);
  // Opening an endpoint reports other errors.
  if (error != EPERM && error != EACCES && error != EAFNOSUPPORT) return false;
  // If UDP is not possible either, opening an endpoint says what raw frames need.
  return reach.has_value();
}

// Returns the broker's boards; nullopt, with the reason for who wants to know it, if there are none.
std::optional<std::vector<Board>> broker_ask(const Settings& settings) {
  auto granted = boards_of_broker(settings);
  if (granted) return std::move(*granted);
  log(LogLevel::info, "{}", granted.error().message);
  return std::nullopt;
}

Failure no_interface(const std::vector<link::Choice>& choices) {
  return {kMxNoDev,
          fmt::format(
              "no usable Ethernet interface; bring one up with \"ip link set dev NAME up\" or name one in "
              "OMX_INTERFACES ({})",
              refusals(choices))};
}

}  // namespace

link::XdpLinkOptions xdp_options(const Settings& settings, link::PacketLinkOptions packets) {
  link::XdpLinkOptions options;
  options.mode = settings.xdp.mode;
  options.queue = settings.xdp.queue;
  options.busy_poll = settings.xdp.busy_poll;
  options.multi_buffer = settings.xdp.multi_buffer;
  options.packets = std::move(packets);
  return options;
}

int frames_possible() {
  return link::packet_sockets_possible();
}

Result<std::vector<Board>> boards_find(const Settings& settings) {
  const int frames_error = frames_error_of(settings);
  const bool first = broker_wanted(settings, frames_error);
  if (first) {
    if (auto granted = broker_ask(settings)) return *granted;
  }
  auto choices =
      link::interfaces_choose(link::interfaces_list(), settings.interfaces, settings.interfaces_variable);
  if (!choices) return tl::unexpected(choices.error());

  const IpFamily wanted = family_of(settings.link);
  const auto reach = raw_frames(settings.link) ? std::nullopt : best_reach(*choices, wanted);
  const bool udp = by_udp(settings, frames_error, reach);
  std::vector<Board> boards;
  for (link::Choice& choice : *choices) {
    std::uint32_t mtu = choice.interface.mtu;
    const NicId mac = choice.interface.nic;
    IpFamily family = wanted;
    if (!choice.taken || (udp && !udp_fit(choice, family, reach, mtu))) continue;
    Board board;
    board.number = static_cast<std::uint32_t>(boards.size());
    board.interface = choice.interface;
    board.mac = mac;
    board.udp = udp;
    if (udp) board.family = family;
    board.mtu = mtu;
    board.hostname = board_hostname(settings, board);
    boards.push_back(std::move(board));
  }
  if (!boards.empty()) return boards;
  if (!first && broker_allowed(settings)) {
    if (auto granted = broker_ask(settings)) return *granted;
  }
  return tl::unexpected(no_interface(*choices));
}

}  // namespace omx::runtime
