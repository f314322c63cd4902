// SPDX-License-Identifier: BSD-3-Clause
// The interfaces of an endpoint: what happens to them is said, and one that is removed and comes back is
// followed.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "runtime/board/outage_text.h"
#include "runtime/board/resolver.h"
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

using link::Outage;

// Goes on with the interface that is back under the name of a board. The endpoint's id is claimed by the
// index of the interface, so it is claimed again. Returns why that cannot be; empty: it is done.
std::string Endpoint::Impl::board_follow(link::Transport& its_link, Board& board, Claim& claim) {
  const std::uint32_t index = its_link.interface().now().index;
  Claim fresh;
  if (index != board.interface.index) {
    auto claimed = claim_try(index, id_);
    if (!claimed) return claimed.error().message;
    if (!claimed->held()) return claim_busy(index, id_).message + " meanwhile; end that one";
    fresh = std::move(*claimed);
  }
  if (const int error = its_link.interface().follow())
    return error == EOPNOTSUPP ? std::string("restart it") : std::string(std::strerror(error));
  board.interface.index = index;
  if (fresh.held()) claim = std::move(fresh);
  return {};
}

// Lets the hub listen where the endpoint is claimed, and gives up the former claim, where it listened until
// now. False, with errno: it listens there still.
bool Endpoint::Impl::hub_listen() {
  if (!listened_.held()) return true;
  if (hub && !hub->listener_set(claim_.descriptor())) return false;
  listened_ = Claim();
  return true;
}

std::string Endpoint::Impl::own_board_follow() {
  Claim claim;  // none where the index is the same
  const std::uint32_t former = board_.interface.index;
  const std::string obstacle = board_follow(*link, board_, claim);
  if (!obstacle.empty()) return obstacle;
  if (claim.held()) {
    for (LocalPlace& place : local_places_) {
      if (place.nic == board_.interface.nic) place = {place.nic, board_.interface.index, former};
    }
    if (!listened_.held()) listened_ = std::move(claim_);
    claim_ = std::move(claim);
    if (!hub_listen())
      log(LogLevel::warn,
          "{} endpoint {}: other processes of this host cannot connect yet: {}; it is tried again each "
          "second",
          board_.interface.name, id_, std::strerror(errno));
    responder_->board_moved();
    segment->move(board_.interface.index);
  }
  if (asleep()) kick();  // the sleeping thread waits for descriptors that are closed
  return {};
}

std::string Endpoint::Impl::outage_tell(const link::Transport& its_link, bool up, const Board& board,
                                        const std::string& obstacle) const {
  OutageFacts facts;
  facts.interface = board.interface.name;
  facts.outage = its_link.interface().outage();
  facts.up = up;
  facts.known = board.udp ? 0 : board.interface.nic;
  if (board.udp) facts.ip = address_name(board.interface.nic);
  facts.now = its_link.interface().now();
  facts.follows = settings_.link != LinkKind::xdp;
  facts.obstacle = obstacle;
  return outage_text(facts);
}

void Endpoint::Impl::check_link() {
  if (in_handler()) return;  // the message it looks at may lie in the link's ring
  if (copies && copies->busy()) {
    copies->tend();
    if (copies->busy()) {  // the ring may have to be made again
      next_check_ = now + protocol::kMillisecond;
      return;
    }
  }
  hub_listen();
  const std::uint32_t mtu_before = link->interface().mtu();
  const int descriptor = link->descriptor();
  bool up = link->interface().refresh();
  std::string obstacle;
  if (link->interface().outage() == Outage::returned && (obstacle = own_board_follow()).empty())
    up = link->interface().refresh();
  if (link->descriptor() != descriptor && asleep()) kick();  // the sleeping thread waits for the former one
  if (const Outage outage = link->interface().outage(); outage != outage_ || up != link_up_) {
    outage_ = outage;
    link_up_ = up;
    log(LogLevel::warn, "{}", outage_tell(*link, up, board_, obstacle));
  }
  if (!rails.empty()) engine->rail_carrier(now, 0, up);
  if (link->interface().mtu() == mtu_before || link->interface().mtu() == 0) return;
  log(LogLevel::warn, "{}: the MTU changed from {} to {}", board_.interface.name, mtu_before,
      link->interface().mtu());
  engine->set_mtu(now, rails_mtu());
  out->flush();
}

void Endpoint::Impl::rails_check() {
  if (in_handler()) return;
  for (const auto& rail : rails) {
    rail->claim.drain();
    const std::uint32_t mtu_before = rails_mtu();
    bool up = rail->link->interface().refresh();
    std::string obstacle;
    if (rail->link->interface().outage() == Outage::returned &&
        (obstacle = board_follow(*rail->link, rail->board, rail->claim)).empty()) {
      up = rail->link->interface().refresh();
      if (rail->segment) rail->segment->move(rail->board.interface.index);
      if (asleep()) kick();
    }
    if (const Outage outage = rail->link->interface().outage(); outage != rail->outage || up != rail->up) {
      rail->outage = outage;
      rail->up = up;
      log(LogLevel::warn, "{} endpoint {}: its rail {}{}", board_.interface.name, id_,
          outage_tell(*rail->link, up, rail->board, obstacle), up ? "" : " (the others go on without it)");
      engine->rail_carrier(now, rail->number(), up);
    }
    if (rails_mtu() != mtu_before) engine->set_mtu(now, rails_mtu());
  }
  out->flush();
}

}  // namespace omx::runtime
