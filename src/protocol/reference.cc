// SPDX-License-Identifier: BSD-3-Clause
// Numbers with reference peers, which have no epochs. All they say is which number they want next, and they
// forget it in ways that must be guessed (docs/spec/protocol.md 3, 7).
//
// A peer that connected to us and does not know our session yet begins its count again when our first CONNECT
// request reaches it (docs/spec/protocol.md 3.2, step 2), whatever it has received by then. So that request
// leaves at once, and nothing with a number before its answer. It also makes the peer's acknowledgements and
// pulls work, which name our session (docs/spec/protocol.md 3.3, first trap). The peer's application does not
// notice.
#include "protocol/state.h"

namespace omx::protocol {

namespace {

// The remote endpoint lives in session `session` and will take `start` as our first number.
void session_adopt(Partner& p, std::uint32_t session, Seqnum start) {
  if (p.true_session != session) {
    p.next_send = p.next_acked = start;
    p.acked_since_asked = 0;
  }
  p.true_session = session;
}

// Whether the peer, in the session that we know, forgot our numbers: it gave us up, which shows in the
// session count (docs/spec/protocol.md 7, last [DO]), or it wants one that we have not used yet, as we took
// over an older announcement.
bool out_of_step(const Partner& p, Seqnum start) {
  const std::uint32_t ahead = seq_diff(start, p.next_send);
  return !seq_same_session(start, p.next_send) || (ahead > 0 && ahead < kSeqSpace / 2);
}

// Whether a reply wants a number again that the peer had acknowledged when it was asked.
bool went_back(const Partner& p, Seqnum start) {
  const std::uint32_t behind = seq_diff(p.next_acked, start);
  return behind > p.acked_since_asked && behind < kSeqSpace / 2;
}

}  // namespace

// Perhaps from an instance of the peer that we do not know, or that forgot us.
void reference_request(State& s, Partner& p, const wire::Connect& packet) {
  const bool reset = p.connected() && out_of_step(p, packet.target_recv_seqnum_start);
  if (p.known_otherwise(packet.src_session) || reset) {
    partner_cleanup(s, p, Cleanup::restarted);
    // It may hold already a number that we announced before the last ones arrived. It does not look again,
    // so another session count only if the numbers differ anyway.
    if (p.announced != p.next_match) partner_renumber(p);
  }
  session_adopt(p, packet.src_session, packet.target_recv_seqnum_start);
  p.back_session = packet.src_session;
}

bool reference_in_step(Partner& p, std::uint32_t session, Seqnum start) {
  if (!p.connected() || p.true_session != session) return false;
  if (!p.back_known && p.outstanding() == 0) {  // its count begins with this answer
    p.next_send = p.next_acked = start;
    p.acked_since_asked = 0;
  }
  p.back_known = true;
  return !out_of_step(p, start) && !went_back(p, start);
}

bool reference_reply(State& s, Partner& p, const Request* r, const wire::Connect& packet) {
  const std::uint32_t session = packet.key_or_target_session;
  if (reference_in_step(p, session, packet.target_recv_seqnum_start)) return true;
  if (p.connected()) partner_cleanup(s, p, Cleanup::restarted);
  if (r && !seq_same_session(r->seqnum, p.next_match)) {
    // It counts from what our request announced, and would not listen again.
    p.next_match = p.last_acked = r->seqnum;
  } else if (!r && p.announced != p.next_match) {
    partner_renumber(p);
    connect_ping(s, p);
    return false;
  }
  session_adopt(p, session, packet.target_recv_seqnum_start);
  p.back_known = true;
  return true;
}

void reference_connect_back(State& s, Partner& p) {
  if (!p.held_back() || !p.connects.empty()) return;  // one under way does it as well
  connect_ping(s, p);
  p.ping_due = s.now + s.config.resend_delay;
}

}  // namespace omx::protocol
