// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/numbered.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "protocol/actions/ack_tx.h"
#include "protocol/actions/connect_tx.h"
#include "protocol/actions/deliver.h"
#include "protocol/actions/nack_tx.h"
#include "protocol/counters.h"
#include "protocol/events/ack.h"
#include "protocol/events/large.h"
#include "protocol/events/numbered_packet.h"
#include "protocol/events/received.h"
#include "protocol/state/ack_owed.h"
#include "protocol/state/bulk_awaited.h"
#include "protocol/state/news.h"
#include "protocol/state/parked.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/reorder.h"
#include "protocol/state/reorder_buffer.h"
#include "protocol/state/sizes.h"
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

Delivery deliver(State& s, Peer& p, const Numbered& n) {
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

// Rebuilds the frame of a message that came in a PACK, as if it had come alone.
std::size_t frame_of_record(const wire::Head& head, const Numbered& n, std::byte* out) {
  wire::Head alone = head;
  alone.type = n.type;
  const std::size_t header = wire::encode_eager(out, alone, n.eager);
  std::memcpy(out + header, n.data, n.eager.length);
  return header + n.eager.length;
}

bool reorder_keep(State& s, Peer& p, const wire::Head& head, wire::Frame frame, const Numbered& n) {
  if (!n.packed) return reorder_store(s, p, n.seqnum, frame, n.fragment, n.fragments);
  std::byte alone[wire::kHeaderCapacity];
  return reorder_store(s, p, n.seqnum, {alone, frame_of_record(head, n, alone)}, 0, 1);
}

// Returns whether the sender is a peer that can be understood. A peer whose connect reply has not arrived
// cannot, and will send again.
bool peer_is_known(State& s, const Peer* p) {
  if (!p || p->self || p->reply_session() == wire::kUnknownSession) {
    s.count(Counter::drop_unknown_peer)++;
    return false;
  }
  return true;
}

// Returns whether the peer counts as we do. Asks the peer when its numbers do not fit.
bool numbers_fit(State& s, Peer& p, const Numbered& n) {
  if (seq_same_session(n.seqnum, p.counting.next_match) && seq_same_session(n.piggyack, p.counting.next_send))
    return true;
  s.count(Counter::drop_bad_seqnum)++;
  generations_doubt(s, p);
  return false;
}

// Takes what a fragment of a medium message says about the bulk path. If the whole message goes there, each
// fragment says so, and the announcement proper follows (docs/reference/wire.md 15).
void bulk_note(State& s, Peer& p, const Numbered& n) {
  bulk_expected(s, p, n.seqnum);
  if (n.fragment + 1 == n.fragments && medium_whole(s, p, n.unit, n.fragments)) bulk_came_unannounced(s, p);
}

// Tells the sender that a queue on the path grows (docs/reference/wire.md 20).
void mark_note(State& s, Peer& p) {
  if (!(p.agreed.features & wire::kFeatureMarks)) return;
  s.count(Counter::recv_marked)++;
  p.counting.marks_untold = true;
  ack_immediately(s, p);
}

// Takes what a packet carries beside its message: a sign of life, an acknowledgement, an announcement.
void acknowledgement_take(State& s, Peer& p, const Numbered& n) {
  if (!n.packed) count(s, n.type);
  peer_heard(s, p);
  if (s.marked) [[unlikely]]
    mark_note(s, p);
  ack_apply(s, p, n.piggyack);
  if (n.type == wire::PacketType::medium && p.agreed.extended && (n.medium.flags & wire::kFlagBulkProbe))
    bulk_note(s, p, n);
}

// Returns whether the packet is the next one to deliver. Keeps an early packet and answers an old one.
bool order_check(State& s, Peer& p, const wire::Head& head, wire::Frame frame, const Numbered& n) {
  const std::uint32_t ahead = seq_diff(n.seqnum, p.counting.next_match);
  // Data that are already in their place cannot be kept with their frame.
  const bool placed = n.type == wire::PacketType::medium && !n.data;
  if (placed && (ahead != 0 || s.suspended)) return false;
  // The handler of an earlier message in the same frame stopped progression.
  if (s.suspended && ahead <= kReorderNumbers) {
    reorder_keep(s, p, head, frame, n);
    return false;
  }
  if (ahead == 0) return true;
  if (ahead <= kReorderNumbers) {
    // The peer was asked to send these messages without their data, so data are not kept.
    if (!(ahead < p.parking.park_range && carries_data(n.type)) && reorder_keep(s, p, head, frame, n))
      s.count(Counter::early)++;
    else
      s.count(Counter::early_dropped)++;
    if (p.agreed.extended) ack_immediately(s, p);  // with the bitmap of what has arrived
    return false;
  }
  s.count(Counter::duplicate)++;
  // An acknowledgement was lost. The reference answers only the newest number (docs/spec/protocol.md 4). That
  // one may be lost each time on a path where the older ones before it fill a queue, so those are answered,
  // too.
  if (p.agreed.extended || ahead == kSeqSpace - 1)
    ack_immediately(s, p);
  else
    ack_later(s, p);
  return false;
}

// Delivers the next packet, and advances the count if its message is complete. A NOTIFY that answers a
// rendezvous at once must carry the acknowledgement, so RNDV counts before delivery. Other messages are
// acknowledged only when complete. A refused delivery has no effect.
Delivery deliver_next(State& s, Peer& p, const Numbered& n) {
  const bool advance_first = n.type == wire::PacketType::rndv;
  const Seqnum number = p.counting.next_match;
  assert(n.seqnum == number);
  // A repeated message keeps its type.
  if (p.rx.partial && n.type != wire::PacketType::medium) {
    rx_drop(s, wire::Drop::bad_length);
    return Delivery::incomplete;
  }
  if (advance_first) p.counting.next_match = seq_add(number, 1);
  const Seqnum during = p.counting.next_match;
  p.parking.park_asked = false;  // until the delivery is refused again
  const bool parked = carries_data(n.type) && p.parking.park_range > 0;
  const Delivery delivery = parked ? Delivery::refused : deliver(s, p, n);
  if (p.counting.next_match != during) return Delivery::incomplete;  // the handler dropped the peer
  if (advance_first && delivery == Delivery::refused) p.counting.next_match = number;
  if (!advance_first && delivery == Delivery::complete) p.counting.next_match = seq_add(number, 1);
  return delivery;
}

// Notes that the message is complete, so its acknowledgement is owed.
void completed(State& s, Peer& p, const Numbered& n) {
  if (p.parking.park_range > 0) [[unlikely]]
    park_taken_up(s, p, n.type);
  p.rx.frames_owed +=
      n.type == wire::PacketType::medium ? std::max(n.fragments, medium_frames_in(s, p, n.medium.length)) : 1;
  if (n.asks_ack && p.agreed.extended) [[unlikely]]  // legacy peers leave the flags undefined
    ack_as_asked(s, p);
  ack_needed(s, p);
  // Reference MX cannot wait for the acknowledgement of a NOTIFY (docs/spec/wire.md 10, point 7).
  if (n.type == wire::PacketType::notify && p.agreed.mode == wire::Mode::mxoe) ack_immediately(s, p);
}

// Notes that a message found no memory. The sender keeps it and tries again. The acknowledgement shows the
// sender that we are alive.
void refused(State& s, Peer& p, const Numbered& n) {
  s.count(Counter::back_pressure)++;
  if (carries_data(n.type) && !p.rx.partial) park_refused(s, p);
  ack_immediately(s, p);
}

}  // namespace

bool numbered_session_ok(State& s, const wire::Head& head, wire::Frame frame, std::uint32_t session,
                         Seqnum seqnum) {
  if (session == s.config.session) return true;
  s.count(Counter::drop_bad_session)++;
  nack_lib_send(s, head, frame, load_src_endpoint(frame), seqnum, wire::NackCode::bad_session);
  return false;
}

bool numbered_received(State& s, Peer* p, const wire::Head& head, wire::Frame frame, const Numbered& n) {
  if (!peer_is_known(s, p) || !numbers_fit(s, *p, n)) return false;
  if (!n.kept) acknowledgement_take(s, *p, n);
  if (!order_check(s, *p, head, frame, n)) return false;
  switch (deliver_next(s, *p, n)) {
    case Delivery::complete:
      completed(s, *p, n);
      return p->rx.reorder != nullptr;
    case Delivery::incomplete:
      break;
    case Delivery::refused:
      refused(s, *p, n);
      break;
  }
  return false;
}

Peer* numbered_frame(State& s, const wire::Head& head, wire::Frame frame, bool kept) {
  Peer* p = peer_find(s, head.src, load_src_endpoint(frame));
  if (!kept && !rx_checksum_ok(s, p, frame)) return nullptr;
  Numbered n;
  n.type = head.type;
  n.kept = kept;
  if (const auto drop = numbered_decode(s, p, frame, n); drop != wire::Drop::none) {
    rx_drop(s, drop);
    return nullptr;
  }
  if (!numbered_session_ok(s, head, frame, n.session, n.seqnum)) return nullptr;
  return numbered_received(s, p, head, frame, n) ? p : nullptr;
}

}  // namespace omx::protocol
