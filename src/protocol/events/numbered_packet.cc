// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/numbered_packet.h"

#include <memory>

#include "protocol/state/peer.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "wire/sizes.h"

namespace omx::protocol {

void numbered_take(Numbered& n, const wire::Message& m) {
  n.session = m.session;
  n.seqnum = m.seqnum;
  n.piggyack = m.piggyack;
  n.asks_ack = m.flags & wire::kFlagAskAck;
}

namespace {

// Returns the sender's unit of fragment numbers, in bytes.
std::uint32_t fragment_unit(const State& s, const Peer* p, const wire::Medium& m) {
  const wire::Mode mode = p ? p->agreed.mode : s.config.mode;
  if (mode == wire::Mode::mxoe) return 1U << m.frag_pipeline;
  if (m.frag_unit != 0) return m.frag_unit;
  return wire::legacy_sizes(mode, s.config.mtu).medium_frag;
}

}  // namespace

wire::Drop numbered_decode_medium(State& s, const Peer* p, bool extended, wire::Frame frame, Numbered& n) {
  std::construct_at(&n.medium);
  const auto drop =
      wire::decode_medium(frame, p ? p->agreed.mode : s.config.mode, extended, n.medium, &n.data);
  if (drop != wire::Drop::none) return drop;
  numbered_take(n, n.medium);
  n.unit = fragment_unit(s, p, n.medium);
  n.fragment = n.medium.frag_seqnum;
  n.fragments = static_cast<std::uint32_t>((std::uint64_t{n.medium.length} + n.unit - 1) / n.unit);
  // Each fragment but the last is full, and the fragment numbers fit the receiver's bit mask.
  const std::uint64_t offset = std::uint64_t{n.fragment} * n.unit;
  const std::uint64_t left = n.medium.length > offset ? n.medium.length - offset : 0;
  const std::uint64_t want = left < n.unit ? left : n.unit;
  if (n.fragments > kMaxFragments || n.medium.frag_length != want || want == 0) return wire::Drop::bad_length;
  return wire::Drop::none;
}

wire::Drop numbered_decode(State& s, const Peer* p, wire::Frame frame, Numbered& n) {
  const bool extended = p && p->agreed.extended;
  wire::Drop drop = wire::Drop::bad_type;
  switch (n.type) {
    case wire::PacketType::tiny:
    case wire::PacketType::small:
      drop = wire::decode_eager(frame, extended, n.eager, &n.data);
      numbered_take(n, n.eager);
      break;
    case wire::PacketType::medium:
      drop = numbered_decode_medium(s, p, extended, frame, n);
      break;
    case wire::PacketType::rndv:
      std::construct_at(&n.rndv);
      drop = wire::decode_rndv(frame, extended, n.rndv, &n.data);
      numbered_take(n, n.rndv);
      break;
    case wire::PacketType::notify:
      std::construct_at(&n.notify);
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

}  // namespace omx::protocol
