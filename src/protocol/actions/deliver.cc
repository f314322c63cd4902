// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/deliver.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "protocol/actions/completion.h"
#include "protocol/actions/handler.h"
#include "protocol/actions/probe.h"
#include "protocol/actions/receive_message.h"
#include "protocol/actions/resend_timer.h"
#include "protocol/counters.h"
#include "protocol/state/ack_owed.h"
#include "protocol/state/arrivals.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/matching.h"
#include "protocol/state/medium_copy.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull_slots.h"
#include "protocol/state/request.h"
#include "protocol/state/requests.h"
#include "protocol/state/room.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/state.h"
#include "wire/codec.h"

namespace omx::protocol {

namespace {

constexpr std::size_t kEnvelope = ~std::size_t{0};  // no data are kept

// While more NOTIFYs than this wait for the window, the peer's large messages are refused: it does not
// acknowledge.
constexpr std::uint32_t kMaxNotifiesQueued = 1024;

struct Matched {
  Request* receive = nullptr;
  bool consumed = false;  // the handler took the message
  bool refused = false;   // no memory to keep it
};

// Finds the receive of a new message, asking the unexpected handler if there is none. `keep` is the memory
// that queueing the message would need. It is secured before the handler sees the message, so that the
// handler sees it once.
Matched match(State& s, Peer& p, const wire::Message& m, std::uint32_t msg_length, const std::byte* data,
              std::size_t keep) {
  const std::uint8_t message_class = m.flags & wire::kFlagHeaderExt ? m.ext.message_class : 0;
  Matched result;
  result.receive = arrival_take(s, p, m.match_info, message_class, msg_length);
  if (result.receive) return result;
  if (!(keep == kEnvelope ? room_for_envelope(s, p) : room_for(s, p, keep))) {
    if (keep == kEnvelope) held_up_note(s, p, HeldUp::What::envelopes, s.config.envelope_bytes);
    result.refused = true;
    return result;
  }
  if (!s.matching.handler) return result;
  const Arrival arrival{&p, p.reply_session(), p.session.conversation, m.match_info, msg_length, data};
  if (handler_call(s, arrival) == HandlerAction::finished) {
    result.consumed = true;
    return result;
  }
  result.receive =
      arrival_take(s, p, m.match_info, message_class, msg_length);  // the handler may have posted it
  return result;
}

void matched(Request& r, Peer& p, const wire::Message& m, std::uint32_t msg_length) {
  const bool ext = m.flags & wire::kFlagHeaderExt;
  receive_matched(r, &p, p.reply_session(), m.match_info, msg_length, ext && m.ext.data_valid, m.ext.data);
}

}  // namespace

Delivery deliver_eager(State& s, Peer& p, const wire::Eager& packet, const std::byte* data) {
  const std::uint32_t length = packet.length;
  const Matched m = match(s, p, packet, length, data, length);
  if (m.refused) return Delivery::refused;
  if (m.consumed) return Delivery::complete;
  if (m.receive) {
    Request& r = *m.receive;
    matched(r, p, packet, length);
    r.segments.write(0, data, r.xfer_length);
    receive_complete(s, r);
    return Delivery::complete;
  }
  Unexpected* u = unexpected_create(s, p, packet, length, true);
  if (!u) return Delivery::refused;
  if (length > 0) __builtin_memcpy(u->buffer, data, length);
  u->complete = true;
  arrival_keep(s, *u);
  return Delivery::complete;
}

namespace {

// Starts a message with whichever of its fragments comes first. Returns false when it is refused.
bool partial_start(State& s, Peer& p, const wire::Medium& packet, const std::byte* data) {
  if (!s.memory.partials.reserve()) return false;
  const bool whole = packet.frag_length == packet.length;
  const Seqnum number = p.counting.next_match;
  const Matched m = match(s, p, packet, packet.length, whole ? data : nullptr, packet.length);
  if (m.refused) return false;
  if (p.counting.next_match != number) {  // the handler dropped the peer: the rest will not come
    if (m.receive) {
      matched(*m.receive, p, packet, packet.length);
      m.receive->xfer_length = 0;
      request_finish(s, *m.receive, Status::endpoint_unreachable);
    }
    return false;
  }
  Unexpected* u = nullptr;
  if (m.receive) {
    matched(*m.receive, p, packet, packet.length);
  } else if (!m.consumed) {
    u = unexpected_create(s, p, packet, packet.length, true);
    if (!u) return false;
    arrival_keep(s, *u);
  }
  Partial& partial = *s.memory.partials.create();
  partial.request = m.receive;
  partial.unexpected = u;
  partial.last = s.now;
  partial.msg_length = packet.length;
  partial.header = static_cast<std::uint8_t>(wire::medium_header_bytes(packet));
  partial.number = s.transfers.pull_age++;
  p.rx.partial = &partial;
  return true;
}

// Takes the message from the peer, which is ready for the next one.
Partial partial_take(State& s, Peer& p) {
  const Partial partial = *p.rx.partial;
  s.memory.partials.destroy(std::exchange(p.rx.partial, nullptr));
  return partial;
}

void partial_finish(State& s, Peer& p) {
  const Partial partial = partial_take(s, p);
  if (partial.by_bulk) bulk_received_count(s, partial.msg_length);
  if (partial.asks_ack) ack_as_asked(s, p);
  if (partial.request && medium_copied(s, partial))
    receive_complete(s, *partial.request);
  else if (partial.request)
    request_finish(s, *partial.request, Status::aborted);
  if (Unexpected* u = partial.unexpected) {
    u->complete = true;
    if (Request* r = u->claimed) {
      r->segments.write(0, u->buffer, r->xfer_length);
      unexpected_free(s, *u);
      receive_complete(s, *r);
    }
  }
}

}  // namespace

Delivery deliver_medium(State& s, Peer& p, const wire::Medium& packet, std::uint32_t unit,
                        const std::byte* data) {
  assert(data || p.rx.partial);
  if (!p.rx.partial) {
    if (!partial_start(s, p, packet, data)) return Delivery::refused;
    if (packet.frag_length < packet.length) retransmit_arm(s, p);  // watch whether the rest comes
  }
  Partial& partial = *p.rx.partial;
  if (partial.msg_length != packet.length) {
    s.count(Counter::drop_malformed)++;
    return Delivery::incomplete;
  }
  if (partial.unit != unit) {  // first fragment, or sent again in other sizes after an MTU fall-back
    partial.unit = unit;
    partial.mask = 0;
    partial.received = 0;
  }
  const std::uint64_t bit = std::uint64_t{1} << packet.frag_seqnum;
  if (partial.mask & bit) {
    s.count(Counter::duplicate)++;
    return Delivery::incomplete;
  }
  const std::uint32_t offset = packet.frag_seqnum * unit;
  if (data && partial.unexpected) {
    __builtin_memcpy(partial.unexpected->buffer + offset, data, packet.frag_length);
  } else if (data && partial.request && offset < partial.request->xfer_length) {
    const std::uint32_t length =
        std::min<std::uint32_t>(packet.frag_length, partial.request->xfer_length - offset);
    medium_copy(s, partial, offset, data, length,
                partial.received + packet.frag_length >= partial.msg_length);
  }
  partial.mask |= bit;
  partial.by_bulk |= (packet.flags & wire::kFlagBulkProbe) != 0;
  partial.asks_ack |= p.agreed.extended && (packet.flags & wire::kFlagAskAck) != 0;
  partial.last = s.now;
  partial.received += packet.frag_length;
  if (partial.received < partial.msg_length) return Delivery::incomplete;
  partial_finish(s, p);
  return Delivery::complete;
}

// Delivers an RNDV. An unexpected message is asked for whole later, so its tail is not kept.
Delivery deliver_rndv(State& s, Peer& p, const wire::Rndv& packet, const std::byte* tail) {
  if (p.agreed.frame_in < p.agreed.frame_agreed) probe_at_message(s, p, packet.msg_length);
  // The receiver of this message must be able to notify the sender.
  if (p.tx.notifies_queued >= kMaxNotifiesQueued || !pull_reserve(s)) return Delivery::refused;
  Request* for_handler = s.matching.handler ? request_create(s, RequestKind::receive) : nullptr;
  if (s.matching.handler && !for_handler) return Delivery::refused;
  const Matched m = match(s, p, packet, packet.msg_length, nullptr, kEnvelope);
  if (m.consumed) {  // no receive wants the data
    for_handler->user_gone = true;
    receive_matched(*for_handler, &p, p.reply_session(), packet.match_info, packet.msg_length, false, 0);
    receive_rndv(s, *for_handler, packet, tail);
    return Delivery::complete;
  }
  if (for_handler) s.memory.requests.destroy(for_handler);
  if (m.refused) return Delivery::refused;
  if (m.receive) {
    matched(*m.receive, p, packet, packet.msg_length);
    receive_rndv(s, *m.receive, packet, tail);
    return Delivery::complete;
  }
  Unexpected* u = unexpected_create(s, p, packet, packet.msg_length, false);
  if (!u) return Delivery::refused;
  u->rendezvous = true;
  u->region = packet.rdma_id;
  u->region_generation = packet.rdma_seqnum;
  u->region_offset = packet.rdma_offset;
  u->region_page = packet.page;
  s.room.envelopes++;
  p.rx.envelopes++;
  arrival_keep(s, *u);
  return Delivery::complete;
}

void partial_abandon(State& s, Peer& p, Status status) {
  if (!p.rx.partial) return;
  const Partial partial = partial_take(s, p);
  medium_copied(s, partial);  // the application may use the memory as soon as the failure is reported
  Request* r = partial.request;
  if (Unexpected* u = partial.unexpected) {
    r = u->claimed;
    if (!r) arrival_drop(s, *u);
    unexpected_free(s, *u);
  }
  if (r) {
    r->xfer_length = 0;
    s.reports.ending_failed++;
    request_finish(s, *r, status);
  }
}

}  // namespace omx::protocol
