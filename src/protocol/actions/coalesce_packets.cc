// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/coalesce_packets.h"

#include <cstring>

#include "protocol/actions/coalesce.h"
#include "protocol/actions/frames.h"
#include "protocol/state/coalescing.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

// More packets would only keep the receiver waiting for the first one.
constexpr std::uint32_t kPacketsMost = 8;

bool coalesce(State& s, Peer& p, const Draft& draft) {
  Coalescing& burst = s.coalescing;
  const auto length = static_cast<std::uint32_t>(draft.length - wire::kEthernetHeader);
  if (!burst.packets_allowed || !s.config.coalesce || !(p.agreed.features & wire::kFeatureCoalescePackets) ||
      p.agreed.intra_node_frame || p.agreed.checksum || length > wire::kSharedPacketMax)
    return false;
  std::byte* const out = coalesce_room(s, p, true, p.counting.next_send, wire::kPacketRecord + length);
  if (!out) return false;
  wire::PackRecord record;
  record.packet = true;
  record.length = static_cast<std::uint16_t>(length);
  wire::encode_pack_record(out, record);
  std::memcpy(out + wire::kPacketRecord, draft.header + wire::kEthernetHeader, length);
  std::memcpy(burst.ethernet.data(), draft.header, wire::kEthernetHeader);
  burst.length += wire::kPacketRecord + length;
  if (++burst.count == kPacketsMost) coalesce_release(s);
  return true;
}

}  // namespace

void packet_send(State& s, Peer& p, const Draft& draft) {
  if (coalesce(s, p, draft)) return;
  if (s.coalescing.peer == &p) coalesce_release(s);  // numbers in their order
  wire::TxFrame& frame = frame_begin(s, p, 1);
  std::memcpy(frame.header, draft.header, draft.length);
  frame.header_length = static_cast<std::uint32_t>(draft.length);
  frame.segment_count = 0;
  frame_finish(s, frame, p.agreed.checksum);
}

void packet_send_by(State& s, const Peer& p, const Draft& draft, unsigned rail) {
  wire::TxFrame& frame = s.sink.rail_begin(rail, 1);
  std::memcpy(frame.header, draft.header, draft.length);
  frame.header_length = static_cast<std::uint32_t>(draft.length);
  frame.segment_count = 0;
  frame_finish(s, frame, p.agreed.checksum);
}

}  // namespace omx::protocol
