// SPDX-License-Identifier: BSD-3-Clause
// Numbers with legacy peers, which have no counter generations. Such a peer only says which number it wants
// next, and it forgets that in ways that must be guessed (docs/spec/protocol.md 3, 7).
//
// A peer that connected to us and does not know our session yet restarts its count when our first CONNECT
// request reaches it (docs/spec/protocol.md 3.2, step 2). What it has received by then does not matter. So
// that request leaves at once, and nothing with a number leaves before its answer. The request also makes the
// peer's acknowledgements and pulls work, which name our session (docs/spec/protocol.md 3.3, first trap).
// The peer's application does not notice.
#include "protocol/state/legacy.h"

#include "protocol/state/peer.h"

namespace omx::protocol {

void legacy_adopt(Peer& p, std::uint32_t session, Seqnum start) {
  if (p.session.true_session != session) {
    p.counting.next_send = p.counting.next_acked = start;
    p.counting.acked_since_asked = 0;
  }
  p.session.true_session = session;
}

bool legacy_began_again(const Peer& p, std::uint32_t session, Seqnum start) {
  return p.connected() && p.session.true_session == session && !seq_same_session(start, p.counting.next_send);
}

bool legacy_out_of_step(const Peer& p, Seqnum start) {
  const std::uint32_t ahead = seq_diff(start, p.counting.next_send);
  return !seq_same_session(start, p.counting.next_send) || (ahead > 0 && ahead < kSeqSpace / 2);
}

namespace {

// Returns whether a reply wants a number again that the peer had acknowledged when it was asked.
bool went_back(const Peer& p, Seqnum start) {
  const std::uint32_t behind = seq_diff(p.counting.next_acked, start);
  return behind > p.counting.acked_since_asked && behind < kSeqSpace / 2;
}

}  // namespace

bool legacy_in_step(Peer& p, std::uint32_t session, Seqnum start) {
  if (!p.connected() || p.session.true_session != session || legacy_began_again(p, session, start))
    return false;
  if (!p.session.back_known && p.outstanding() == 0) {  // the peer's count begins with this answer
    p.counting.next_send = p.counting.next_acked = start;
    p.counting.acked_since_asked = 0;
  }
  p.session.back_known = true;
  return !legacy_out_of_step(p, start) && !went_back(p, start);
}

}  // namespace omx::protocol
