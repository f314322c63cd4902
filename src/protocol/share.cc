// SPDX-License-Identifier: BSD-3-Clause
// Packets without data share frames (docs/reference/wire.md 14): what a turn asks for, acknowledges and
// reports to one endpoint, and announcements of large messages that have others before them. A stream of
// large messages needs three such packets for each, and a frame costs as much as 10 KiB of data.
#include <cstring>

#include "protocol/endpoint.h"
#include "protocol/state.h"

namespace omx::protocol {

namespace {

// More would only keep the receiver waiting for the first.
constexpr std::uint32_t kPacketsMost = 8;

bool share(State& s, Partner& p, const Draft& draft) {
  Packing& pack = s.packing;
  const auto length = static_cast<std::uint32_t>(draft.length - wire::kEthernetHeader);
  if (!pack.gathers || !s.config.pack || !(p.features & wire::kFeatureShare) || p.near_frame || p.checksum ||
      length > wire::kSharedPacketMax)
    return false;
  std::byte* const out = pack_room(s, p, true, p.next_send, wire::kPacketRecord + length);
  if (!out) return false;
  wire::PackRecord record;
  record.packet = true;
  record.length = static_cast<std::uint16_t>(length);
  wire::encode_pack_record(out, record);
  std::memcpy(out + wire::kPacketRecord, draft.header + wire::kEthernetHeader, length);
  std::memcpy(pack.ethernet.data(), draft.header, wire::kEthernetHeader);
  pack.length += wire::kPacketRecord + length;
  if (++pack.count == kPacketsMost) pack_release(s);
  return true;
}

}  // namespace

void packet_send(State& s, Partner& p, const Draft& draft) {
  if (share(s, p, draft)) return;
  if (s.packing.partner == &p) pack_release(s);  // numbers in their order
  wire::TxFrame& frame = frame_begin(s, p, 1);
  std::memcpy(frame.header, draft.header, draft.length);
  frame.header_length = static_cast<std::uint32_t>(draft.length);
  frame.segment_count = 0;
  frame_finish(s, frame, p.checksum);
}

void packet_send_by(State& s, const Partner& p, const Draft& draft, unsigned rail) {
  wire::TxFrame& frame = s.sink.rail_begin(rail, 1);
  std::memcpy(frame.header, draft.header, draft.length);
  frame.header_length = static_cast<std::uint32_t>(draft.length);
  frame.segment_count = 0;
  frame_finish(s, frame, p.checksum);
}

bool Endpoint::held_question() const {
  State& s = *state_;
  const Pull* const pull = s.packing.packets ? s.pull_list.front() : nullptr;
  return pull && s.packing.partner == pull->partner && !s.pull_list.next(*s.pull_list.front());
}

HandlerAction handler_call(State& s, const Arrival& arrival) {
  pack_release(s);
  const Gathers none(s, false);
  return s.handler(s.handler_context, arrival);
}

void share_receive(State& s, wire::Frame frame, wire::Frame packet) {
  // Its addresses are the frame's.
  std::byte whole[wire::kEthernetHeader + wire::kSharedPacketMax];
  std::memcpy(whole, frame.data(), wire::kEthernetHeader);
  std::memcpy(whole + wire::kEthernetHeader, packet.data(), packet.size());
  const wire::Frame inner(whole, wire::kEthernetHeader + packet.size());
  wire::Head head;
  if (wire::decode_head(inner, head) != wire::Drop::none) return rx_drop(s, wire::Drop::bad_length);
  switch (head.type) {
    case wire::PacketType::rndv:
    case wire::PacketType::pull:
    case wire::PacketType::notify:
    case wire::PacketType::truc:
      return rx_frame(s, inner);
    default:
      return rx_drop(s, wire::Drop::bad_type);
  }
}

}  // namespace omx::protocol
