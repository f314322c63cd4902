// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/numbered.h"

#include <cstring>

#include "protocol/actions/ack_tx.h"
#include "protocol/actions/connect_tx.h"
#include "protocol/actions/deliver.h"
#include "protocol/actions/nack_tx.h"
#include "protocol/counters.h"
#include "protocol/events/ack.h"
#include "protocol/events/early_drain.h"
#include "protocol/events/large.h"
#include "protocol/events/numbered_packet.h"
#include "protocol/events/received.h"
#include "protocol/state/ack_owed.h"
#include "protocol/state/early.h"
#include "protocol/state/early_window.h"
#include "protocol/state/lane_awaited.h"
#include "protocol/state/news.h"
#include "protocol/state/parked.h"
#include "protocol/state/partner.h"
#include "protocol/state/state.h"
#include "wire/frame_io.h"

namespace omx::protocol {

namespace {

void count(State& s, wire::PacketType type) {
  switch (type) {
    case wire::PacketType::tiny:
      s.count(Counter::recv_tiny)++;
      break;
    case wire::PacketType::small:
      s.count(Counter::recv_small)++;
      break;
    case wire::PacketType::medium:
      s.count(Counter::recv_medium_frag)++;
      break;
    case wire::PacketType::rndv:
      s.count(Counter::recv_rndv)++;
      break;
    default:
      s.count(Counter::recv_notify)++;
      break;
  }
}

Delivery deliver(State& s, Partner& p, const Numbered& n) {
  switch (n.type) {
    case wire::PacketType::tiny:
    case wire::PacketType::small:
      return deliver_eager(s, p, n.eager, n.data);
    case wire::PacketType::medium:
      return deliver_medium(s, p, n.medium, n.unit, n.data);
    case wire::PacketType::rndv:
      return deliver_rndv(s, p, n.rndv, n.data);
    default:
      large_notified(s, p, n.notify);
      return Delivery::complete;
  }
}

// A message that came in a PACK, as if it had come by itself.
std::size_t frame_of_record(const wire::Head& head, const Numbered& n, std::byte* out) {
  wire::Head alone = head;
  alone.type = n.type;
  const std::size_t header = wire::encode_eager(out, alone, n.eager);
  std::memcpy(out + header, n.data, n.eager.length);
  return header + n.eager.length;
}

bool keep_early(State& s, Partner& p, const wire::Head& head, wire::Frame frame, const Numbered& n) {
  if (!n.packed) return early_store(s, p, n.seqnum, frame, n.fragment, n.fragments);
  std::byte alone[wire::kHeaderCapacity];
  return early_store(s, p, n.seqnum, {alone, frame_of_record(head, n, alone)}, 0, 1);
}

}  // namespace

bool numbered_session_ok(State& s, const wire::Head& head, wire::Frame frame, std::uint32_t session,
                         Seqnum seqnum) {
  if (session == s.config.session) return true;
  s.count(Counter::drop_bad_session)++;
  nack_lib_send(s, head, frame, load_src_endpoint(frame), seqnum, wire::NackCode::bad_session);
  return false;
}

void numbered_received(State& s, Partner* p, const wire::Head& head, wire::Frame frame, const Numbered& n,
                       bool from_early) {
  // A partner whose connect reply has not arrived yet cannot be understood: it will send again.
  if (!p || p->self || p->reply_session() == wire::kUnknownSession) {
    s.count(Counter::drop_unknown_partner)++;
    return;
  }
  if (!seq_same_session(n.seqnum, p->counting.next_match) ||
      !seq_same_session(n.piggyack, p->counting.next_send)) {
    s.count(Counter::drop_bad_seqnum)++;
    epochs_doubt(s, *p);
    return;
  }
  if (!from_early) {
    if (!n.packed) count(s, n.type);
    partner_heard(s, *p);
    ack_apply(s, *p, n.piggyack);
    if (n.type == wire::PacketType::medium && p->agreed.extended && (n.medium.flags & wire::kFlagLaneProbe))
      lane_announced(s, *p, n.seqnum);
  }
  const std::uint32_t ahead = seq_diff(n.seqnum, p->counting.next_match);
  // What is not with its frame cannot be kept.
  const bool placed = n.type == wire::PacketType::medium && !n.data;
  if (placed && (ahead != 0 || s.suspended)) return;
  // The handler of an earlier message in the same frame stopped progression.
  if (s.suspended && ahead <= kEarlyWindow) {
    keep_early(s, *p, head, frame, n);
    return;
  }
  if (ahead == 0) {
    // A NOTIFY that answers a rendezvous at once shall carry its acknowledgement. Nothing else may be
    // acknowledged before it is whole; a refused delivery has had no effect.
    const bool advance_first = n.type == wire::PacketType::rndv;
    const Seqnum number = p->counting.next_match;
    // A message keeps its type while it is repeated.
    if (p->rx.partial.active && n.type != wire::PacketType::medium) return rx_drop(s, wire::Drop::bad_length);
    if (advance_first) p->counting.next_match = seq_add(number, 1);
    const Seqnum during = p->counting.next_match;
    const bool has_data = carries_data(n.type);
    p->parking.park_asked = false;  // unless it is refused again
    const Delivery delivery = has_data && p->parking.park_range > 0 ? Delivery::refused : deliver(s, *p, n);
    if (p->counting.next_match != during) return;  // the unexpected handler dropped the partner
    if (advance_first && delivery == Delivery::refused) p->counting.next_match = number;
    switch (delivery) {
      case Delivery::complete:
        if (!advance_first) p->counting.next_match = seq_add(number, 1);
        if (p->parking.park_range > 0) [[unlikely]]
          park_taken_up(s, *p, n.type);
        p->rx.frames_owed += n.fragments;
        ack_needed(s, *p);
        // Reference MX cannot wait for the ack of a NOTIFY (wire.md 10, point 7).
        if (n.type == wire::PacketType::notify && p->agreed.mode == wire::Mode::mxoe) ack_immediately(s, *p);
        if (p->rx.early && !from_early) early_drain(s, *p);
        break;
      case Delivery::incomplete:
        break;
      case Delivery::refused:
        // No memory: the sender keeps the data, or the message, and tries again. The ack shows it that we
        // live.
        s.count(Counter::back_pressure)++;
        if (has_data && !p->rx.partial.active) park_refused(s, *p);
        ack_immediately(s, *p);
        break;
    }
  } else if (ahead <= kEarlyWindow) {
    // What is asked for without its data is not kept with them.
    if (!(ahead < p->parking.park_range && carries_data(n.type)) && keep_early(s, *p, head, frame, n))
      s.count(Counter::early)++;
    else
      s.count(Counter::early_dropped)++;
    if (p->agreed.extended) ack_immediately(s, *p);  // with the bitmap of what has arrived
  } else {
    s.count(Counter::duplicate)++;
    // An acknowledgement was lost. The reference answers only the newest number; we send the oldest again,
    // so between extended peers any old number counts.
    if (p->agreed.extended || ahead == kSeqSpace - 1) ack_immediately(s, *p);
  }
}

}  // namespace omx::protocol
