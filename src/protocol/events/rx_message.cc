// SPDX-License-Identifier: BSD-3-Clause
// Numbered packets: sessions, acknowledgements, order (docs/spec/protocol.md 4). Unlike in the reference, a
// message is matched only when all earlier messages of its peer are complete. So completions keep the order
// too.
#include "protocol/events/rx_message.h"

#include "protocol/counters.h"
#include "protocol/events/numbered.h"
#include "protocol/events/numbered_packet.h"
#include "protocol/events/received.h"
#include "protocol/events/reorder_drain.h"
#include "protocol/state/peer.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

void rx_message(State& s, const wire::Head& head, wire::Frame frame) {
  if (Peer* p = numbered_frame(s, head, frame, false)) reorder_drain(s, *p);
}

namespace {

// Returns whether a frame is the expected fragment. If so, `n` describes it.
bool is_fragment(State& s, const ExpectedFrame& expected, wire::Frame frame, Numbered& n) {
  const Peer* p = expected.sender;
  wire::Head head;
  if (wire::decode_head(frame, head) != wire::Drop::none || head.type != wire::PacketType::medium ||
      head.src != p->nic || load_src_endpoint(frame) != p->endpoint)
    return false;
  n.type = head.type;
  if (numbered_decode_medium(s, p, p->agreed.extended, frame, n) != wire::Drop::none) return false;
  const Partial* const partial = p->rx.partial;
  return partial && !p->agreed.checksum && partial->message() == expected.message &&
         n.seqnum == p->counting.next_match && n.medium.dst_endpoint == s.config.endpoint &&
         n.session == s.config.session && n.medium.length == partial->msg_length && n.unit == partial->unit &&
         n.fragment == expected.index && n.medium.frag_length == expected.length &&
         !(n.medium.flags & wire::kFlagChecksum) && wire::medium_header_bytes(n.medium) == expected.header;
}

}  // namespace

bool medium_is(State& s, const ExpectedFrame& expected, wire::Frame frame) {
  Numbered n;
  return is_fragment(s, expected, frame, n);
}

void medium_placed(State& s, const ExpectedFrame& expected, const wire::Head& head, wire::Frame frame) {
  Numbered n;
  if (!is_fragment(s, expected, frame, n)) return;  // a handler ran since medium_is()
  n.data = nullptr;
  if (numbered_received(s, expected.sender, head, frame, n)) reorder_drain(s, *expected.sender);
}

void rx_messages(State& s, Peer* p, const wire::Head& head, wire::Frame frame, const wire::Pack& packet,
                 wire::Frame records) {
  if (!numbered_session_ok(s, head, frame, packet.session, packet.seqnum)) return;
  s.count(Counter::recv_coalesced)++;
  Numbered n;
  n.packed = true;
  numbered_take(n, packet);
  n.asks_ack = false;  // no PACK has that flag
  static_cast<wire::Message&>(n.eager) = packet;
  while (!records.empty()) {
    wire::PackRecord record;
    if (const auto drop = wire::decode_pack_record(records, record, &n.data); drop != wire::Drop::none)
      return rx_drop(s, drop);
    if (record.packet) return rx_drop(s, wire::Drop::bad_type);
    n.type = record.length <= wire::kTinyMax ? wire::PacketType::tiny : wire::PacketType::small;
    n.eager.seqnum = n.seqnum;
    n.eager.match_info = record.match_info;
    n.eager.length = record.length;
    n.eager.flags = record.has_ext ? wire::kFlagHeaderExt : 0;
    n.eager.ext = record.ext;
    if (numbered_received(s, p, head, frame, n)) reorder_drain(s, *p);
    n.seqnum = seq_add(n.seqnum, 1);
  }
}

}  // namespace omx::protocol
