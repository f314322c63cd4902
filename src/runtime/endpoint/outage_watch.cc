// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/endpoint/outage_watch.h"

#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "runtime/board/outage_text.h"
#include "runtime/board/resolver.h"

namespace omx::runtime {

using link::Outage;

// Goes on with the interface that is back under the name of a board. The endpoint's id is claimed by the
// interface's index, so it is claimed again. Returns why that failed; empty on success.
std::string OutageWatch::board_follow(link::Transport& its_link, Board& board, Claim& claim) {
  const std::uint32_t index = its_link.interface().now().index;
  Claim fresh;
  // A granted board is known by the index of its NIC, and the link sees a macvlan.
  const bool moved = !board.granted() && index != board.interface.index;
  if (moved) {
    auto claimed = claim_try(index, core_.id);
    if (!claimed) return claimed.error().message;
    if (!claimed->held()) return claim_busy(index, core_.id).message + " meanwhile; end that one";
    fresh = std::move(*claimed);
  }
  if (const int error = its_link.interface().follow())
    return error == EOPNOTSUPP ? std::string("restart it") : std::string(std::strerror(error));
  if (moved) board.interface.index = index;
  if (fresh.held()) claim = std::move(fresh);
  return {};
}

// Makes the hub listen at the present claim, and gives up the former one, where it listened until now.
// Returns false, with errno, if the hub still listens at the former claim.
bool OutageWatch::hub_listen() {
  if (!listened_.held()) return true;
  if (core_.hub && !core_.hub->listener_set(core_.claim.descriptor())) return false;
  listened_ = Claim();
  return true;
}

std::string OutageWatch::own_board_follow() {
  Claim claim;  // not held if the index is the same
  const std::uint32_t former = core_.board.interface.index;
  const std::string obstacle = board_follow(*core_.link, core_.board, claim);
  if (!obstacle.empty()) return obstacle;
  if (claim.held()) {
    intra_node_.board_moved(former);
    if (!listened_.held()) listened_ = std::move(core_.claim);
    core_.claim = std::move(claim);
    if (!hub_listen())
      log(LogLevel::warn,
          "{} endpoint {}: other processes of this host cannot connect yet: {}; it is tried again each "
          "second",
          core_.board.interface.name, core_.id, std::strerror(errno));
    answers_.board_moved();
    core_.segment->move(core_.board.interface.index);
  }
  waiters_.wake_sleeper();  // the sleeper waits for descriptors that are closed
  return {};
}

std::string OutageWatch::outage_message(const link::Transport& its_link, bool up, const Board& board,
                                        const std::string& obstacle) const {
  OutageFacts facts;
  facts.interface = board.interface.name;
  facts.outage = its_link.interface().outage();
  facts.up = up;
  facts.known = board.udp ? 0 : board.interface.nic;
  if (board.udp) facts.ip = address_name(board.interface.nic);
  facts.now = its_link.interface().now();
  facts.follows = core_.settings.link != LinkKind::xdp;
  facts.obstacle = obstacle;
  return outage_text(facts);
}

bool OutageWatch::check() {
  assert(core_.lock.owned());
  if (progression_.in_handler()) return true;  // the message that the handler sees may lie in the link's ring
  if (core_.copies && core_.copies->busy()) {
    core_.copies->tend();
    if (core_.copies->busy()) return false;  // the ring may have to be made again
  }
  hub_listen();
  const std::uint32_t mtu_before = core_.link->interface().mtu();
  const bool up = refresh();
  if (!rails_.empty()) core_.engine->rail_carrier(core_.now, 0, up);
  if (core_.link->interface().mtu() == mtu_before || core_.link->interface().mtu() == 0) return true;
  log(LogLevel::warn, "{}: the MTU changed from {} to {}", core_.board.interface.name, mtu_before,
      core_.link->interface().mtu());
  core_.engine->set_mtu(core_.now, rails_.mtu());
  core_.out->flush();
  return true;
}

// Reads the state of the endpoint's own interface. Returns whether its link receives.
bool OutageWatch::refresh() {
  const int descriptor = core_.link->descriptor();
  bool up = core_.link->interface().refresh();
  std::string obstacle;
  if (core_.link->interface().outage() == Outage::returned && (obstacle = own_board_follow()).empty())
    up = core_.link->interface().refresh();
  if (core_.link->descriptor() != descriptor)
    waiters_.wake_sleeper();  // the sleeper waits for the former descriptor
  if (const Outage outage = core_.link->interface().outage(); outage != outage_ || up != up_) {
    outage_ = outage;
    up_ = up;
    log(LogLevel::warn, "{}", outage_message(*core_.link, up, core_.board, obstacle));
  }
  return up;
}

void OutageWatch::check_rails() {
  if (progression_.in_handler()) return;
  for (const auto& rail : rails_.all()) {
    rail->claim.drain();
    const std::uint32_t mtu_before = rails_.mtu();
    bool up = rail->link->interface().refresh();
    std::string obstacle;
    if (rail->link->interface().outage() == Outage::returned &&
        (obstacle = board_follow(*rail->link, rail->board, rail->claim)).empty()) {
      up = rail->link->interface().refresh();
      if (rail->segment) rail->segment->move(rail->board.interface.index);
      waiters_.wake_sleeper();
    }
    if (const Outage outage = rail->link->interface().outage(); outage != rail->outage || up != rail->up) {
      rail->outage = outage;
      rail->up = up;
      log(LogLevel::warn, "{} endpoint {}: its rail {}{}", core_.board.interface.name, core_.id,
          outage_message(*rail->link, up, rail->board, obstacle), up ? "" : " (the others go on without it)");
      core_.engine->rail_carrier(core_.now, rail->number(), up);
    }
    if (rails_.mtu() != mtu_before) core_.engine->set_mtu(core_.now, rails_.mtu());
  }
  core_.out->flush();
}

}  // namespace omx::runtime
