// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/lone_send.h"

#include <cstring>

#include "protocol/actions/completion.h"
#include "protocol/actions/frames.h"
#include "protocol/actions/message_fields.h"
#include "protocol/actions/resend_timer.h"
#include "protocol/counters.h"
#include "protocol/history.h"
#include "protocol/state/ack_owed.h"
#include "protocol/state/heard_lately.h"
#include "protocol/state/history_note.h"
#include "protocol/state/peer.h"
#include "protocol/state/reorder_buffer.h"
#include "protocol/state/request.h"
#include "protocol/state/requests.h"
#include "protocol/state/send_count.h"
#include "protocol/state/state.h"
#include "protocol/types.h"
#include "wire/lone.h"

namespace omx::protocol {

namespace {

static_assert(kNearMost >= wire::kSmallMax, "the copy of a lone message lies in its request");

// Returns whether a TINY or SMALL carries the message, and the application asks for nothing special.
bool is_plain(const SendOp& op, std::uint32_t length) {
  return length <= wire::kSmallMax && !(op.synchronous | op.delivered | op.advice.hold);
}

// Returns whether the peer takes such a message now.
bool may_leave(const State& s, const Peer& p, const SendOp& op) {
  const bool same = op.session == p.session.true_session || op.session == wire::kUnknownSession;
  const bool going_on = op.conversation == p.session.conversation || op.conversation == 0;
  const bool plain = p.agreed.extended && !p.agreed.checksum && !p.rails && !p.self;
  return plain && p.connected() && !p.tx.eager && same && going_on && p.tx.queued.empty() &&
         p.parking.park_next == 0 && p.parking.park_left == 0 &&
         p.tx.frames_unacked < p.agreed.eager_credit && p.outstanding() < kReorderNumbers &&
         (!op.confirmed || heard_lately(s, p)) &&
         (p.carries_ext() || (op.message_class == 0 && !op.has_data));
}

bool engine_is_free(const State& s) {
  return s.config.lone && !s.coalescing.peer && !s.completion.uncopied &&
         s.completion.buffered_sends < s.config.buffered_sends_max;
}

void leave(State& s, const Peer& p, const Request& r) {
  std::byte frame[wire::kLoneFrameMost];
  wire::Lone packet;
  packet.dst = p.nic;
  packet.src = s.config.nic;
  packet.peer_index = p.session.peer_index;
  packet.dst_endpoint = p.endpoint;
  packet.src_endpoint = s.config.endpoint;
  packet.flags = frame_flags(p, true);
  packet.length = static_cast<std::uint16_t>(r.msg_length);
  packet.seqnum = r.seqnum;
  packet.piggyack = p.counting.next_match;
  packet.match_info = r.match_info;
  packet.session = p.session.true_session;
  if (r.needs_ext()) {
    packet.flags |= wire::kFlagHeaderExt;
    packet.ext = ext_of(r);
  }
  wire::encode_lone(frame, packet);
  const std::size_t header = wire::lone_header(packet.flags);
  // A copy of a length that the compiler knows is faster, and the frame needs the zeros.
  if (r.msg_length <= wire::kTinyMax)
    std::memcpy(frame + header, r.tx.near.data(), wire::kTinyMax);
  else
    std::memcpy(frame + header, r.tx.near.data(), r.msg_length);
  s.sink.send_now(frame, header + r.msg_length);
}

}  // namespace

Request* lone_send(State& s, const SendOp& op) {
  if (op.segments.size() > 1 || !op.peer) return nullptr;
  const Segment data = op.segments.empty() ? Segment{} : op.segments.front();
  Peer& p = *op.peer;
  if (!is_plain(op, data.length) || !may_leave(s, p, op) || !engine_is_free(s)) return nullptr;
  Request* const r = request_create(s, RequestKind::send);
  if (!r) return nullptr;
  r->peer = &p;
  r->session = p.session.true_session;
  r->conversation = p.session.conversation;
  r->match_info = op.match_info;
  r->context = op.context;
  r->user_gone = op.forgotten;
  r->message_class = op.message_class;
  r->has_data = op.has_data;
  r->data = op.data;
  r->msg_length = r->xfer_length = data.length;
  r->phase = Phase::unacked;
  r->send_class = data.length <= wire::kTinyMax ? SendClass::tiny : SendClass::small;
  r->first_sent = r->last_sent = s.now;
  r->seqnum = p.counting.next_send;
  r->tx.frames = 1;
  r->tx.buffered = true;
  std::memset(r->tx.near.data(), 0, wire::kTinyMax);
  if (data.length > 0) {
    std::memcpy(r->tx.near.data(), data.base, data.length);
    r->tx.buffer = r->tx.near.data();
    r->tx.buffer_size = data.length;
  }
  send_count(s, p, data.length);
  s.count(r->send_class == SendClass::tiny ? Counter::send_tiny : Counter::send_small)++;
  p.counting.next_send = seq_add(p.counting.next_send, 1);
  p.tx.frames_unacked++;
  p.tx.unacked.push_back(*r);
  leave(s, p, *r);
  ack_piggybacked(p);
  history_note(s, Happened::sent, &p, r->match_info, r->msg_length, r->seqnum);
  retransmit_arm_lone(s, p);
  request_user_done(s, *r, Status::success);
  return r;
}

}  // namespace omx::protocol
