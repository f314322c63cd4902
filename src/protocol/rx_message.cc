// SPDX-License-Identifier: BSD-3-Clause
// Numbered packets: sessions, acknowledgement part, order (docs/spec/protocol.md 4). Unlike the reference, a
// message is matched only when all earlier ones of its partner are complete, so that completions keep the
// order too.
#include <cstring>

#include "protocol/epochs.h"
#include "protocol/state.h"

namespace omx::protocol {

namespace {

// One decoded packet of any numbered type.
struct Numbered {
  wire::PacketType type;
  std::uint32_t session = 0;
  Seqnum seqnum = 0, piggyack = 0;
  std::uint32_t fragment = 0, fragments = 1;
  std::uint32_t unit = 0;
  wire::Eager eager;
  wire::Medium medium;
  wire::Rndv rndv;
  wire::Notify notify;
  // Of a medium message, nullptr: they are in their place; of RNDV, the tail.
  const std::byte* data = nullptr;
  bool packed = false;  // came with others
};

void take(Numbered& n, const wire::Message& m) {
  n.session = m.session;
  n.seqnum = m.seqnum;
  n.piggyack = m.piggyack;
}

// The unit that fragment numbers count in, as the sender means it.
std::uint32_t fragment_unit(const State& s, const Partner* p, const wire::Medium& m) {
  const wire::Mode mode = p ? p->mode : s.config.mode;
  if (mode == wire::Mode::mxoe) return 1U << m.frag_pipeline;
  if (m.frag_unit != 0) return m.frag_unit;
  return wire::reference_sizes(mode, s.config.mtu).medium_frag;
}

wire::Drop decode_medium(State& s, const Partner* p, bool extended, wire::Frame frame, Numbered& n) {
  const auto drop = wire::decode_medium(frame, p ? p->mode : s.config.mode, extended, n.medium, &n.data);
  if (drop != wire::Drop::none) return drop;
  take(n, n.medium);
  n.unit = fragment_unit(s, p, n.medium);
  n.fragment = n.medium.frag_seqnum;
  n.fragments = static_cast<std::uint32_t>((std::uint64_t{n.medium.length} + n.unit - 1) / n.unit);
  // Each fragment but the last is full; the numbers fit the receiver's bit mask.
  const std::uint64_t offset = std::uint64_t{n.fragment} * n.unit;
  const std::uint64_t left = n.medium.length > offset ? n.medium.length - offset : 0;
  const std::uint64_t want = left < n.unit ? left : n.unit;
  if (n.fragments > kMaxFragments || n.medium.frag_length != want || want == 0) return wire::Drop::bad_length;
  return wire::Drop::none;
}

wire::Drop decode(State& s, const Partner* p, wire::Frame frame, Numbered& n) {
  const bool extended = p && p->extended;
  wire::Drop drop = wire::Drop::bad_type;
  switch (n.type) {
    case wire::PacketType::tiny:
    case wire::PacketType::small:
      drop = wire::decode_eager(frame, extended, n.eager, &n.data);
      take(n, n.eager);
      break;
    case wire::PacketType::medium:
      drop = decode_medium(s, p, extended, frame, n);
      break;
    case wire::PacketType::rndv:
      drop = wire::decode_rndv(frame, extended, n.rndv, &n.data);
      take(n, n.rndv);
      break;
    case wire::PacketType::notify:
      drop = wire::decode_notify(frame, extended, n.notify);
      n.session = n.notify.session;
      n.seqnum = n.notify.seqnum;
      n.piggyack = n.notify.piggyack;
      break;
    default:
      break;
  }
  return drop;
}

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

bool session_ok(State& s, const wire::Head& head, wire::Frame frame, std::uint32_t session, Seqnum seqnum) {
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
  if (!seq_same_session(n.seqnum, p->next_match) || !seq_same_session(n.piggyack, p->next_send)) {
    s.count(Counter::drop_bad_seqnum)++;
    epochs_doubt(s, *p);
    return;
  }
  if (!from_early) {
    if (!n.packed) count(s, n.type);
    partner_heard(s, *p);
    ack_apply(s, *p, n.piggyack);
    if (n.type == wire::PacketType::medium && p->extended && (n.medium.flags & wire::kFlagLaneProbe))
      lane_announced(s, *p, n.seqnum);
  }
  const std::uint32_t ahead = seq_diff(n.seqnum, p->next_match);
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
    const Seqnum number = p->next_match;
    // A message keeps its type while it is repeated.
    if (p->partial.active && n.type != wire::PacketType::medium) return rx_drop(s, wire::Drop::bad_length);
    if (advance_first) p->next_match = seq_add(number, 1);
    const Seqnum during = p->next_match;
    const bool has_data = carries_data(n.type);
    p->park_asked = false;  // unless it is refused again
    const Delivery delivery = has_data && p->park_range > 0 ? Delivery::refused : deliver(s, *p, n);
    if (p->next_match != during) return;  // the unexpected handler dropped the partner
    if (advance_first && delivery == Delivery::refused) p->next_match = number;
    switch (delivery) {
      case Delivery::complete:
        if (!advance_first) p->next_match = seq_add(number, 1);
        if (p->park_range > 0) [[unlikely]]
          park_taken_up(s, *p, n.type);
        p->frames_owed += n.fragments;
        ack_needed(s, *p);
        // Reference MX cannot wait for the ack of a NOTIFY (docs/spec/wire.md 10, point 7).
        if (n.type == wire::PacketType::notify && p->mode == wire::Mode::mxoe) ack_immediately(s, *p);
        if (p->early && !from_early) early_drain(s, *p);
        break;
      case Delivery::incomplete:
        break;
      case Delivery::refused:
        // No memory: the sender keeps the data, or the message, and tries again. The ack shows it that we
        // live.
        s.count(Counter::back_pressure)++;
        if (has_data && !p->partial.active) park_refused(s, *p);
        ack_immediately(s, *p);
        break;
    }
  } else if (ahead <= kEarlyWindow) {
    // What is asked for without its data is not kept with them.
    if (!(ahead < p->park_range && carries_data(n.type)) && keep_early(s, *p, head, frame, n))
      s.count(Counter::early)++;
    else
      s.count(Counter::early_dropped)++;
    if (p->extended) ack_immediately(s, *p);  // with the bitmap of what has arrived
  } else {
    s.count(Counter::duplicate)++;
    // An acknowledgement was lost. The reference answers only the newest number; we send the oldest again,
    // so between extended peers any old number counts.
    if (p->extended || ahead == kSeqSpace - 1) ack_immediately(s, *p);
  }
}

}  // namespace

void rx_message(State& s, const wire::Head& head, wire::Frame frame, bool from_early) {
  Partner* p = partner_find(s, head.src, load_src_endpoint(frame));
  if (!from_early && !rx_checksum_ok(s, p, frame)) return;
  Numbered n;
  n.type = head.type;
  if (const auto drop = decode(s, p, frame, n); drop != wire::Drop::none) return rx_drop(s, drop);
  if (session_ok(s, head, frame, n.session, n.seqnum)) numbered_received(s, p, head, frame, n, from_early);
}

namespace {

// Whether a frame is the expected fragment, which `n` then describes.
bool is_fragment(State& s, const ExpectedFrame& expected, wire::Frame frame, Numbered& n) {
  const Partner* p = expected.sender;
  wire::Head head;
  if (wire::decode_head(frame, head) != wire::Drop::none || head.type != wire::PacketType::medium ||
      head.src != p->nic || load_src_endpoint(frame) != p->endpoint)
    return false;
  n.type = head.type;
  if (decode_medium(s, p, p->extended, frame, n) != wire::Drop::none) return false;
  const Partial& partial = p->partial;
  return partial.active && !p->checksum && partial.message() == expected.message &&
         n.seqnum == p->next_match && n.medium.dst_endpoint == s.config.endpoint &&
         n.session == s.config.session && n.medium.length == partial.msg_length && n.unit == partial.unit &&
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
  if (!is_fragment(s, expected, frame, n)) return;  // a handler ran since the frame was looked at
  n.data = nullptr;
  numbered_received(s, expected.sender, head, frame, n, false);
}

void rx_pack(State& s, const wire::Head& head, wire::Frame frame) {
  Partner* p = partner_find(s, head.src, load_src_endpoint(frame));
  if (!rx_checksum_ok(s, p, frame)) return;
  // It was never told that we read them. One that we gave up was, and learns of it by the answers.
  if (p && !p->extended && p->connected()) return rx_drop(s, wire::Drop::bad_type);
  wire::Pack packet;
  wire::Frame records;
  if (const auto drop = wire::decode_pack(frame, packet, records); drop != wire::Drop::none)
    return rx_drop(s, drop);
  if (wire::holds_packets(records)) {
    s.count(Counter::recv_gathered)++;
    for (std::uint32_t i = 0; !records.empty(); i++) {
      if (i == wire::kSharedPacketsMost) return rx_drop(s, wire::Drop::bad_length);
      wire::PackRecord record;
      const std::byte* data = nullptr;
      if (const auto drop = wire::decode_pack_record(records, record, &data); drop != wire::Drop::none)
        return rx_drop(s, drop);
      if (!record.packet) return rx_drop(s, wire::Drop::bad_type);
      share_receive(s, frame, {data, record.length});
    }
    return;
  }
  if (!session_ok(s, head, frame, packet.session, packet.seqnum)) return;
  s.count(Counter::recv_pack)++;
  Numbered n;
  n.packed = true;
  take(n, packet);
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
    numbered_received(s, p, head, frame, n, false);
    n.seqnum = seq_add(n.seqnum, 1);
  }
}

}  // namespace omx::protocol
