// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/legacy_connect.h"

#include "protocol/actions/connect_tx.h"
#include "protocol/events/cleanup.h"
#include "protocol/state/generations.h"
#include "protocol/state/legacy.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

// Takes a request that may come from an instance of the peer that we do not know or that forgot us.
void legacy_request(State& s, Peer& p, const wire::Connect& packet) {
  const bool reset = p.connected() && legacy_out_of_step(p, packet.target_recv_seqnum_start);
  if (p.known_otherwise(packet.src_session) || reset) {
    peer_cleanup(s, p, Cleanup::restarted);
    // The peer may already hold a number that we announced before the last messages arrived. It would not
    // read another one, so the session count changes, but only if the numbers differ.
    if (p.counting.announced != p.counting.next_match) peer_renumber(p);
  }
  legacy_adopt(p, packet.src_session, packet.target_recv_seqnum_start);
  p.session.back_session = packet.src_session;
}

bool legacy_reply(State& s, Peer& p, const Request* r, const wire::Connect& packet) {
  const std::uint32_t session = packet.key_or_target_session;
  if (legacy_in_step(p, session, packet.target_recv_seqnum_start)) return true;
  const bool again = legacy_began_again(p, session, packet.target_recv_seqnum_start);
  if (p.connected()) peer_cleanup(s, p, Cleanup::restarted);
  if (r && (again || !seq_same_session(r->seqnum, p.counting.next_match))) {
    // The peer counts from the number that our request announced, and would not read another one.
    p.counting.next_match = p.counting.last_acked = r->seqnum;
  } else if (!r && p.counting.announced != p.counting.next_match) {
    peer_renumber(p);
    connect_ping(s, p);
    return false;
  }
  legacy_adopt(p, session, packet.target_recv_seqnum_start);
  p.session.back_known = true;
  return true;
}

void legacy_connect_back(State& s, Peer& p) {
  if (!p.held_back() || !p.tx.connects.empty()) return;  // a pending connect does it as well
  connect_ping(s, p);
  p.liveness.ping_due = s.now + s.config.reliability.resend_delay;
}

}  // namespace omx::protocol
