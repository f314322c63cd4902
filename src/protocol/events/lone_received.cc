// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/lone_received.h"

#include "protocol/actions/ack_tx.h"
#include "protocol/actions/completion.h"
#include "protocol/counters.h"
#include "protocol/events/ack.h"
#include "protocol/state/ack_owed.h"
#include "protocol/state/arrivals.h"
#include "protocol/state/matching.h"
#include "protocol/state/news.h"
#include "protocol/state/peer.h"
#include "protocol/state/rails.h"
#include "protocol/state/request.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/state.h"
#include "wire/lone.h"

namespace omx::protocol {

namespace {

// Returns the sender, if it is the one that was heard last and nothing but its messages is to be read.
Peer* sender_of(State& s, const wire::Lone& m) {
  Peer* const p = s.peers.last_found;
  const bool ours = m.dst == s.config.nic && m.dst_endpoint == s.config.endpoint &&
                    m.session == s.config.session && !rails_used(s);
  if (!ours || !p || p->nic != m.src || p->endpoint != m.src_endpoint) return nullptr;
  const bool plain = p->agreed.extended && !p->agreed.checksum && !p->self;
  return plain && p->reply_session() != wire::kUnknownSession ? p : nullptr;
}

// Returns whether the message is the next of its peer, and may be delivered.
bool is_next(const State& s, const Peer& p, const wire::Lone& m) {
  return m.seqnum == p.counting.next_match && seq_same_session(m.piggyack, p.counting.next_send) &&
         seq_diff(m.piggyack, p.counting.next_acked) <= p.outstanding() && p.parking.park_range == 0 &&
         !p.rx.partial && !p.rx.reorder && p.tx.queued.empty() && !s.suspended;
}

}  // namespace

bool lone_received(State& s, wire::Frame frame) {
  wire::Lone m;
  if (!s.config.lone || s.marked || !wire::decode_lone(frame, m)) return false;
  Peer* const sender = sender_of(s, m);
  if (!sender || !is_next(s, *sender, m)) return false;
  Peer& p = *sender;
  Request* const posted = s.matching.posted.find(m.match_info, &p, p.reply_session(), m.ext.message_class);
  if (!posted) return false;
  s.count(m.type == wire::PacketType::tiny ? Counter::recv_tiny : Counter::recv_small)++;
  peer_heard(s, p);
  ack_apply(s, p, m.piggyack);
  p.parking.park_asked = false;
  Request& r = arrival_matched(s, p, m.match_info, m.length, *posted);
  receive_matched(r, &p, p.reply_session(), m.match_info, m.length, m.ext.data_valid, m.ext.data);
  r.segments.write(0, frame.data() + wire::lone_header(m.flags), r.xfer_length);
  receive_complete(s, r);
  p.counting.next_match = seq_add(p.counting.next_match, 1);
  p.rx.frames_owed++;
  if (m.flags & wire::kFlagAskAck) [[unlikely]]
    ack_as_asked(s, p);
  ack_needed(s, p);
  return true;
}

}  // namespace omx::protocol
