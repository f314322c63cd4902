// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/broker_boards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "broker/board_mac.h"
#include "broker/message.h"
#include "broker/offers.h"
#include "netdev/interfaces.h"
#include "netdev/interfaces_choose.h"
#include "runtime/board/claim.h"

namespace omx::runtime {

namespace {

constexpr int kMxNoDev = 5;
constexpr std::uint32_t kMacvlans = 0x40000000;  // no interface has such an index

// Describes an offered board as an interface. In a container the interface itself may not be there.
link::Interface interface_of(const broker::BoardOffer& offer, const std::vector<link::Interface>& own) {
  const auto here = std::ranges::find_if(own, [&](const link::Interface& interface) {
    return interface.name == offer.interface && interface.nic == offer.mac;
  });
  link::Interface interface;
  if (here != own.end()) interface = *here;
  interface.name = offer.interface;
  // Endpoints are claimed by this number. A macvlan of the broker is another board than its NIC, where root
  // may have endpoints.
  interface.index = offer.trusted ? offer.ifindex : kMacvlans | offer.ifindex;
  interface.nic = offer.nic;
  interface.mtu = offer.mtu;
  interface.up = offer.up;
  interface.running = offer.running;
  interface.ethernet = true;
  interface.virtual_kind = false;  // the broker chose it
  interface.master.clear();
  if (here == own.end()) interface.kind = "broker";
  return interface;
}

bool any_endpoint(std::uint32_t index, std::uint32_t most) {
  for (std::uint32_t id = 0; id < most; id++)
    if (claim_held(index, id)) return true;
  return false;
}

}  // namespace

bool broker_allowed(const Settings& settings) {
  return settings.broker != "off" &&
         (settings.link == LinkKind::automatic || settings.link == LinkKind::ethernet);
}

bool broker_wanted(const Settings& settings, int frames_error) {
  return broker_allowed(settings) && (frames_error == EPERM || frames_error == EACCES);
}

std::string broker_path(const Settings& settings) {
  if (settings.broker == "off") return {};
  return settings.broker == "auto" ? broker::kDefaultPath : settings.broker;
}

Result<std::vector<Board>> boards_of_broker(const Settings& settings) {
  const std::string path = broker_path(settings);
  const auto offers = broker::boards_offered(path);
  if (!offers) return tl::unexpected(offers.error());
  const std::vector<link::Interface> own = link::interfaces_list();
  std::vector<link::Interface> offered;
  for (const broker::BoardOffer& offer : *offers) offered.push_back(interface_of(offer, own));
  const auto choices = link::interfaces_choose(offered, settings.interfaces, settings.interfaces_variable);
  if (!choices) return tl::unexpected(choices.error());
  std::vector<Board> boards;
  for (const link::Choice& choice : *choices) {
    if (!choice.taken) continue;
    const auto offer = std::ranges::find(*offers, choice.interface.name, &broker::BoardOffer::interface);
    Board board;
    board.number = static_cast<std::uint32_t>(boards.size());
    board.interface = choice.interface;
    board.mac = offer->mac;
    board.mtu = offer->mtu;
    board.hostname = offer->hostname;
    board.broker = path;
    board.trusted = offer->trusted;
    boards.push_back(std::move(board));
  }
  if (boards.empty())
    return fail(kMxNoDev, fmt::format("the broker at {} grants this user no board; ask the administrator for "
                                      "it (broker.conf)",
                                      path));
  return boards;
}

std::vector<Board> boards_watched(std::vector<Board> boards, const Settings& settings) {
  const std::size_t own = boards.size();
  for (std::size_t i = 0; i < own; i++) {
    if (boards[i].granted()) continue;
    const std::uint32_t index = kMacvlans | boards[i].interface.index;
    if (!any_endpoint(index, settings.endpoints_max)) continue;
    Board board = boards[i];
    board.interface.index = index;
    board.interface.nic = broker::board_mac(board.mac);
    board.broker = settings.broker == "off" ? broker::kDefaultPath : broker_path(settings);
    board.udp = false;
    boards.push_back(std::move(board));
  }
  return boards;
}

}  // namespace omx::runtime
