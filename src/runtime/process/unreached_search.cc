// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/process/unreached_search.h"

#include <unistd.h>

#include <algorithm>

#include "base/no_cancel.h"
#include "link/udp/neighbours.h"
#include "link/udp/udp_directory.h"
#include "runtime/board/peers_discovery.h"
#include "runtime/board/resolver.h"
#include "runtime/board/unreached.h"

namespace omx::runtime {

namespace {

// Answers take less than a millisecond, except from busy hosts.
constexpr std::uint32_t kAskMs = 250;
constexpr unsigned kPortMs = 100;

}  // namespace

// Returns whether a program on that host answers by raw frames, whichever link this process uses.
bool UnreachedSearch::answers_by_frames(NicId mac) const {
  const bool granted = boards_granted(boards_.found());
  if (settings_.discovery_ms == 0 || (!granted && frames_possible() != 0)) return false;
  std::vector<Board> boards = boards_.now();
  for (Board& board : boards) {
    if (granted) continue;
    board.udp = false;
    board.interface.nic = board.mac;
  }
  Settings settings = settings_;
  settings.discovery_ms = std::min(settings.discovery_ms, kAskMs);
  PeerTable answers;  // a table of its own: earlier answers must not count
  DiscoveryRequest request;
  request.nic = mac;
  request.found = [&] {
    const auto peer = answers.find(mac);
    return peer && !peer->name.empty();
  };
  request.meanwhile = [this] { endpoints_.help(); };
  request.answers = !boards_by_udp(boards_.found());
  return peers_discover(boards, settings, answers, request).value_or(false);
}

void UnreachedSearch::ask(NicId nic, UnreachedFacts& facts) const {
  Netlink kernel(NETLINK_ROUTE);
  if (facts.udp) {
    const auto ip = link::udp_directory().find(nic);
    if (!ip) return;
    for (const link::Neighbour& neighbour : link::neighbours_find(kernel, *ip))
      facts.board_answers = facts.board_answers || answers_by_frames(neighbour.mac);
    return;
  }
  facts.board_answers = answers_by_frames(nic);
  if (facts.board_answers) return;
  const auto address = link::neighbour_address(kernel, nic);
  if (!address) return;
  facts.address = link::ip_text(address->ip);
  facts.there = link::udp_port_look(address->ip, facts.port, address->ifindex, kPortMs);
  // A sign of the host that came meanwhile counts, too.
  const auto again = link::neighbour_address(kernel, nic);
  facts.reachable = address->reachable || (again && again->reachable);
}

Unreached UnreachedSearch::find(NicId nic, std::uint8_t endpoint, const Unanswered& how) const {
  const NoCancel no_cancel;
  UnreachedFacts facts;
  facts.endpoint = endpoint;
  facts.refused = how.refused;
  facts.advice = how.advice;
  facts.user = ::geteuid();
  facts.udp = boards_by_udp(boards_.found());
  facts.link = link_name(settings_.link);
  facts.port = static_cast<std::uint16_t>(settings_.udp_port + endpoint);
  if (const Board* board = boards_.of(nic)) {
    facts.here = true;
    facts.granted = board->granted();
    facts.holder = claim_holder(boards_.now()[board->number].interface.index, endpoint);
  } else if (how.ask && !(how.refused && !facts.udp)) {
    ask(nic, facts);
  }
  return unreached_judge(facts);
}

}  // namespace omx::runtime
