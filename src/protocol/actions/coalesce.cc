// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/coalesce.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "protocol/actions/frames.h"
#include "protocol/actions/message_fields.h"
#include "protocol/counters.h"
#include "protocol/state/ack_owed.h"
#include "protocol/state/coalescing.h"
#include "wire/codec.h"
#include "wire/frame_io.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

// A larger frame would only keep the receiver waiting for the first message.
constexpr std::uint32_t kPackFrame = 4096;
// Bytes of the header and of a checksum.
constexpr std::uint32_t kPackHeader = 40 + wire::kChecksumBytes;

bool coalesce_begin(State& s, Peer& p, bool packets, Seqnum first) {
  Coalescing& burst = s.coalescing;
  if (!burst.records) burst.records.reset(new (std::nothrow) std::byte[kPackFrame]);
  // Packets that repair a connection must come through, however narrow the path has become.
  const std::uint32_t most = packets ? std::min(kPackFrame, s.config.base_frame) : kPackFrame;
  const std::uint32_t frame = std::min(p.agreed.frame_max, most);
  const auto record = static_cast<std::uint32_t>(packets ? wire::kPacketRecord + wire::kSharedPacketMax
                                                         : wire::kPackRecordMax + wire::kSmallMax);
  if (!burst.records || frame < kPackHeader + 2 * record) return false;
  burst.peer = &p;
  burst.packets = packets;
  burst.began = s.now;
  burst.first = first;
  burst.count = burst.length = 0;
  burst.room = frame - kPackHeader;
  return true;
}

}  // namespace

std::byte* coalesce_room(State& s, Peer& p, bool packets, Seqnum first, std::uint32_t bytes) {
  Coalescing& burst = s.coalescing;
  if (burst.peer) {
    const bool joins = burst.peer == &p && burst.packets == packets &&
                       (packets || first == seq_add(burst.first, burst.count));
    if (!joins || burst.length + bytes > burst.room) coalesce_release(s);
  }
  if (!burst.peer && !coalesce_begin(s, p, packets, first)) return nullptr;
  return burst.records.get() + burst.length;
}

bool coalesce_add(State& s, const Request& r) {
  Coalescing& burst = s.coalescing;
  Peer& p = *r.peer;
  if (!burst.allowed || !s.config.coalesce || !(p.agreed.features & wire::kFeaturePack) ||
      p.agreed.intra_node_frame || r.tx.asks_ack)  // a PACK has no place for that flag
    return false;
  std::byte* const out = coalesce_room(s, p, false, r.seqnum, wire::kPackRecordMax + r.msg_length);
  if (!out) return false;
  wire::PackRecord record;
  record.match_info = r.match_info;
  record.length = static_cast<std::uint16_t>(r.msg_length);
  record.has_ext = r.needs_ext();
  if (record.has_ext) record.ext = ext_of(r);
  const std::size_t header = wire::encode_pack_record(out, record);
  payload_copy(r, out + header);
  burst.length += static_cast<std::uint32_t>(header) + r.msg_length;
  burst.count++;
  return true;
}

void coalesce_release(State& s) {
  Coalescing& burst = s.coalescing;
  if (!burst.peer) return;
  Peer& p = *std::exchange(burst.peer, nullptr);
  wire::TxFrame& frame = frame_begin(s, p, 2);
  if (burst.packets && burst.count == 1) {
    std::memcpy(frame.header, burst.ethernet.data(), wire::kEthernetHeader);
    const std::uint32_t length = burst.length - wire::kPacketRecord;
    std::memcpy(frame.header + wire::kEthernetHeader, burst.records.get() + wire::kPacketRecord, length);
    frame.header_length = wire::kEthernetHeader + length;
    frame.segment_count = 0;
    s.sink.frame_commit();
    return;
  }
  wire::Pack packet;
  header_fill(s, p, burst.first, true, packet);
  packet.length = static_cast<std::uint16_t>(burst.length);
  const auto head = frame_head(s, p, wire::PacketType::pack);
  frame.header_length = static_cast<std::uint32_t>(wire::encode_pack(frame.header, head, packet));
  frame.segment_count = 1;
  frame.segments[0] = {burst.records.get(), burst.length};
  frame_finish(s, frame, p.agreed.checksum);
  if (!burst.packets) ack_piggybacked(p);  // each packet settled this when it was made
  s.count(burst.packets ? Counter::send_coalesced_packets : Counter::send_coalesced)++;
  frames_leave(s);  // the next burst needs the memory
}

void coalesce_drop(State& s, const Peer& p) {
  if (s.coalescing.peer == &p) s.coalescing.peer = nullptr;
}

}  // namespace omx::protocol
