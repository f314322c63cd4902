// SPDX-License-Identifier: BSD-3-Clause
// Builds the frames of tiny, small and medium messages.
#include "protocol/actions/eager_tx.h"

#include <sys/uio.h>

#include "protocol/actions/bulk_offer.h"
#include "protocol/actions/frames.h"
#include "protocol/actions/message_fields.h"
#include "protocol/counters.h"
#include "protocol/state/ack_owed.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/gso_frame.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "wire/codec.h"
#include "wire/frame_io.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

// Gathers payload from the request's own copy or the user's memory.
std::uint32_t gather(const Request& r, std::uint32_t offset, std::uint32_t length, iovec* out) {
  if (r.tx.buffer) {
    *out = {r.tx.buffer + offset, length};
    return length ? 1 : 0;
  }
  return r.segments.gather(offset, length, out);
}

// Legacy peers get some repetitions in the order of the reference.
constexpr std::uint16_t kInOrder = 16;

// Returns the fragment with which a transmission begins. Where a queue is shorter than the message, the
// fragments at the end are lost. If each repetition began with the same one, the same ones would be lost
// again. Multiples of the golden section meet every fragment soon.
std::uint32_t first_fragment(const Request& r, std::uint32_t fragments) {
  if (!r.peer->agreed.extended && r.resends <= kInOrder) return 0;
  constexpr std::uint32_t kGolden = 40'503;  // in units of 2^-16
  return ((r.resends * kGolden & 0xFFFF) * fragments) >> 16;
}

// Returns the fragment size of a repetition, and of a message that goes by the link.
std::uint32_t link_unit(const State& s, const Request& r) {
  return r.tx.by_bulk ? bulk_unit(s, *r.peer, r.msg_length) : medium_unit(*r.peer);
}

std::uint32_t pieces_of(const Request& r, std::uint32_t unit) {
  return (r.msg_length + unit - 1) / unit;
}

// The fragments that leave now, counted from the first one of this transmission.
struct Leaving {
  std::uint32_t from, to;
};

// Takes the next fragment of a repetition that is spread over time, or all of them.
Leaving leaving_next(Request& r, std::uint32_t fragments) {
  if (r.tx.spread == 0) return {0, fragments};
  if (r.tx.spread != fragments) {  // the frames have another size now
    r.tx.spread = static_cast<std::uint8_t>(fragments);
    r.tx.spread_sent = 0;
  }
  const std::uint32_t next = r.tx.spread_sent++;
  return {next, next + 1};
}

}  // namespace

void eager_transmit(State& s, Request& r) {
  Peer& p = *r.peer;
  const bool tiny = r.send_class == SendClass::tiny;
  wire::Eager packet;
  message_fill(s, r, true, packet);
  packet.length = static_cast<std::uint16_t>(r.msg_length);
  wire::TxFrame& frame = frame_begin(s, p, 1);
  const auto head = frame_head(s, p, tiny ? wire::PacketType::tiny : wire::PacketType::small);
  const std::size_t header = wire::encode_eager(frame.header, head, packet);
  // Copying such short data behind the header is cheaper than having the kernel gather them.
  payload_copy(r, frame.header + header);
  frame.header_length = static_cast<std::uint32_t>(header + r.msg_length);
  frame.segment_count = 0;
  frame_finish(s, frame, p.agreed.checksum);
  ack_piggybacked(p);
  s.count(tiny ? Counter::send_tiny : Counter::send_small)++;
}

std::uint8_t medium_fragments(const State& s, const Request& r) {
  return static_cast<std::uint8_t>(pieces_of(r, link_unit(s, r)));
}

void medium_transmit(State& s, Request& r) {
  Peer& p = *r.peer;
  if (!medium_fits(p, r)) {  // no receiver could put it together
    r.tx.spread = 0;
    return;
  }
  std::uint32_t unit = medium_unit(p);
  std::uint32_t fragments = pieces_of(r, unit);
  const bool gains = s.config.bulk.fragments && fragments >= kBulkFragments;
  const bool alone = fragments > 1 && (r.resends > 0 || bulk_alone(s, p));
  if (gains || alone) bulk_offer(s, p);
  // Repetitions go by the link.
  const bool bulk = gains && p.bulk.out && r.resends == 0;
  r.tx.by_bulk |= bulk;
  const std::uint32_t gso = bulk ? gso_medium_unit(s, p, r.msg_length) : 0;
  r.tx.by_gso |= gso > 0;
  if (bulk) bulk_sent_count(s, r);
  if (r.tx.by_bulk) {
    unit = gso > 0 ? gso : link_unit(s, r);
    fragments = pieces_of(r, unit);
  }
  wire::Medium packet;
  packet.length = r.msg_length;
  // The receiver polls its bulk path for a while after frames came by it. So it finds a message there sooner
  // than one whose end goes by the link. The announcement follows.
  const bool whole = bulk && medium_whole(s, p, unit, fragments);
  packet.frag_pipeline =
      static_cast<std::uint8_t>(p.agreed.mode == wire::Mode::mxoe ? __builtin_ctz(unit) : 0);
  packet.frag_unit =
      static_cast<std::uint16_t>(p.agreed.extended && p.agreed.mode == wire::Mode::omx ? unit : 0);
  const std::uint32_t first = first_fragment(r, fragments);
  const Leaving leaving = leaving_next(r, fragments);
  for (std::uint32_t n = leaving.from; n < leaving.to; n++) {
    const std::uint32_t i = first + n < fragments ? first + n : first + n - fragments;
    const bool last = n + 1 == leaving.to;
    const std::uint32_t offset = i * unit;
    const std::uint32_t length = r.msg_length - offset < unit ? r.msg_length - offset : unit;
    message_fill(s, r, last, packet);
    packet.frag_seqnum = static_cast<std::uint8_t>(i);
    packet.frag_length = static_cast<std::uint16_t>(length);
    const bool by_link = !bulk || (last && !whole);
    if (whole || (bulk && last)) packet.flags |= wire::kFlagBulkProbe;
    const std::uint32_t pieces = (r.tx.buffer ? 1 : r.segments.count()) + 1;
    wire::TxFrame& frame = by_link ? frame_begin(s, p, pieces) : s.sink.bulk_begin(p.bulk.address, pieces);
    frame.alone = alone;
    frame.cut = gso > 0 && !by_link ? bulk_frame(s, p) : 0;
    const auto head = frame_head(s, p, wire::PacketType::medium);
    frame.header_length =
        static_cast<std::uint32_t>(wire::encode_medium(frame.header, head, p.agreed.mode, packet));
    frame.segment_count = gather(r, offset, length, frame.segments);
    frame_finish(s, frame, p.agreed.checksum);
  }
  if (whole) bulk_announce(s, p);
  // An acknowledgement that goes by the bulk path alone may be lost with it, and the peer would repeat its
  // messages.
  if (!whole || p.bulk.losses == 0) ack_piggybacked(p);
  s.count(Counter::send_medium_frag) += leaving.to - leaving.from;
}

}  // namespace omx::protocol
