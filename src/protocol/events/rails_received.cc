// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/rails_received.h"

#include "base/bytes.h"
#include "protocol/actions/probe.h"
#include "protocol/actions/rails_tend.h"
#include "protocol/actions/send_tx.h"
#include "protocol/counters.h"
#include "protocol/events/received.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_slots.h"
#include "protocol/state/rail_paths.h"
#include "protocol/state/rails.h"
#include "protocol/state/request.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"

namespace omx::protocol {

void rails_source(State& s, wire::Head& head, wire::Frame frame) {
  s.rails.rx_nic = head.src;
  Peer* p = nullptr;
  bool follows = false;
  switch (head.type) {
    case wire::PacketType::connect:
      return;  // a CONNECT names its sender itself
    case wire::PacketType::pull_reply:
    case wire::PacketType::nack_mcp: {
      const std::uint32_t magic = load_be32(frame.data() + 28);
      const Pull* pull = wire::unscheduled(magic) ? nullptr : pull_of_handle(s, load_be32(frame.data() + 24));
      if (wire::unscheduled(magic)) p = rail_alias_find(s, head.src, wire::unscheduled_from(magic));
      if (pull) p = pull->peer;
      if (p && p->misnamed(static_cast<std::uint8_t>(wire::source_endpoint(frame)))) return;
      // The reply, however late, shows that the path works.
      if (pull && p->rails && p->rails->peer.place(head.src) != kRailsMost)
        rail_prove(s, p->rails->paths[s.rails.rx_rail]);
      break;
    }
    case wire::PacketType::nack_lib:
      p = rail_alias_find(s, head.src, static_cast<std::uint8_t>(frame[17]));
      if (!p) p = peer_find(s, head.src, static_cast<std::uint8_t>(frame[17]));
      break;
    default:
      follows = head.type != wire::PacketType::pull && head.type != wire::PacketType::probe;
      p = rail_alias_find(s, head.src, load_src_endpoint(frame));
      if (!p) p = peer_find(s, head.src, load_src_endpoint(frame));
  }
  if (!p || !p->rails || p->rails->peer.place(head.src) == kRailsMost) return;
  head.src = p->nic;
  rails_heard(s, *p, follows);
}

bool rails_connect(State& s, wire::Head& head, const wire::Connect& packet) {
  const wire::RailNics& boards = packet.ext.rails;
  if (boards.place(head.src) != kRailsMost && head.src != boards.nics[0]) {
    // Any host can name the board of another one before its own. So the peer's further boards are those that
    // it named by its first one.
    const Peer* const p = peer_find(s, boards.nics[0], packet.src_endpoint);
    if (!p || !p->rails || p->rails->peer.place(head.src) == kRailsMost) {
      s.count(Counter::drop_bad_source)++;
      return packet.is_reply;
    }
    head.src = boards.nics[0];
  }
  // A board identifies one peer only, so another peer with this board as an alias is outdated.
  if (Peer* const other = rail_alias_find(s, head.src, packet.src_endpoint)) rails_forget(s, *other);
  if (s.rails.rx_rail == 0 || packet.is_reply) return true;
  const Peer* const p = peer_find(s, head.src, packet.src_endpoint);
  return p && p->rails;
}

void rails_probe_received(State& s, Peer& p, const wire::Probe& packet, std::size_t size) {
  Rails& rails = *p.rails;
  RailPath& path = rails.paths[s.rails.rx_rail];
  const auto from = static_cast<std::uint8_t>(rails.peer.place(s.rails.rx_nic));
  if (from == kRailsMost || size < packet.size || packet.size > peer_frame(s, p)) return;
  if (!packet.is_reply) {
    // A board that reaches us can probably be reached.
    if (path.state == RailState::unknown && path.to != from) {
      path.to = from;
      path.cookie = 0;
    }
    return probe_rail(s, p, s.rails.rx_rail, s.rails.rx_nic, packet.size, true, packet.cookie);
  }
  if (path.cookie == 0 || packet.cookie != path.cookie || path.to != from) return;
  path.cookie = 0;
  path.tries = 0;
  path.probe_due = 0;
  path.frame = s.rails.rx_rail == 0 ? kRailAnyFrame : packet.size;  // rail 0 has probes of its own
  rail_prove(s, path);
  if (s.rails.rx_rail == 0 || !rails.paths[rails.home].up()) {
    rails_home_set(s, p, s.rails.rx_rail);
  } else if (rails.doubted != 0 && rails.home != s.rails.rx_rail &&
             rails.paths[rails.home].heard < rails.doubted &&
             s.now >= rails.doubted + rail_patience(s, p, rails.paths[rails.home])) {
    rails_suspect(s, p, rails.home, rails.paths[rails.home].heard);
    if (Request* const oldest = p.tx.unacked.front()) {
      oldest->tx.spread = oldest->tx.spread_sent = 0;  // all of it goes by the other rail
      send_retransmit(s, *oldest, Counter::resend_timeout);
    }
  }
  s.timers.arm_by(s.pulling.timer, s.now);  // this rail may be asked for data now
}

}  // namespace omx::protocol
