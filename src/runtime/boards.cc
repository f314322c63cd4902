// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/boards.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "link/link.h"
#include "link/udp_address.h"

namespace omx::runtime {

namespace {

constexpr int kMxNoDev = 5;

std::string host_name(const Settings& settings) {
  if (!settings.hostname.empty()) return settings.hostname;
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) < 0 || !name[0]) return "localhost";
  return name;
}

// As the reference does, the loopback device is "localhost" without a number.
std::string board_hostname(const Settings& settings, const Board& board) {
  if (board.interface.loopback) return "localhost";
  const std::string suffix = fmt::format(":{}", board.number);
  return host_name(settings).substr(0, wire::kHostnameMax - 1 - suffix.size()) + suffix;
}

// Some examples: error texts have an end (mx-api.md 5).
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

// The interface as a UDP link shows it. False, with the reason: no address.
bool udp_fit(link::Choice& choice, std::uint32_t& mtu) {
  link::Interface& interface = choice.interface;
  const auto address = link::interface_address(interface.name, interface.index);
  const NicId nic = address ? link::udp_nic(address->ip) : 0;
  if (nic == 0) {
    choice.reason = "no IPv4 address, which OMX_LINK=udp needs";
    return false;
  }
  interface.nic = nic;
  mtu = link::udp_mtu(interface.mtu, *address);
  return true;
}

bool by_udp(const Settings& settings, const std::vector<link::Choice>& choices) {
  if (settings.link != LinkKind::automatic) return settings.link == LinkKind::udp;
  // What else is wrong is told when an endpoint opens.
  const int error = link::packet_links_possible();
  if (error != EPERM && error != EACCES && error != EAFNOSUPPORT) return false;
  // Where UDP cannot be had either, opening says what raw frames need.
  return std::any_of(choices.begin(), choices.end(), [](link::Choice choice) {
    std::uint32_t mtu = 0;
    return choice.taken && udp_fit(choice, mtu);
  });
}

}  // namespace

link::XdpLinkOptions xdp_options(const Settings& settings, link::PacketLinkOptions packets) {
  link::XdpLinkOptions options;
  options.mode = settings.xdp_mode;
  options.queue = settings.xdp_queue;
  options.busy_poll = settings.xdp_busy_poll;
  options.multi_buffer = settings.xdp_multi_buffer;
  options.packets = std::move(packets);
  return options;
}

int frames_possible() {
  return link::packet_links_possible();
}

Result<std::vector<Board>> boards_find(const Settings& settings) {
  auto choices =
      link::interfaces_choose(link::interfaces_list(), settings.interfaces, settings.interfaces_variable);
  if (!choices) return tl::unexpected(choices.error());

  const bool udp = by_udp(settings, *choices);
  std::vector<Board> boards;
  for (link::Choice& choice : *choices) {
    std::uint32_t mtu = choice.interface.mtu;
    const NicId mac = choice.interface.nic;
    if (!choice.taken || (udp && !udp_fit(choice, mtu))) continue;
    Board board;
    board.number = static_cast<std::uint32_t>(boards.size());
    board.interface = choice.interface;
    board.mac = mac;
    board.udp = udp;
    board.mtu = mtu;
    board.hostname = board_hostname(settings, board);
    boards.push_back(std::move(board));
  }
  if (boards.empty()) {
    return fail(
        kMxNoDev,
        fmt::format(
            "no usable Ethernet interface; bring one up with \"ip link set dev NAME up\" or name one in "
            "OMX_INTERFACES ({})",
            refusals(*choices)));
  }
  return boards;
}

}  // namespace omx::runtime
