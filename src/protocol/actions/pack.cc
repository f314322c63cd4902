// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/pack.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "protocol/actions/frames.h"
#include "protocol/actions/message_fields.h"
#include "protocol/counters.h"
#include "protocol/state/ack_owed.h"
#include "protocol/state/packing.h"
#include "wire/codec.h"
#include "wire/frame_io.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

// A larger frame would only keep the receiver waiting for the first message.
constexpr std::uint32_t kPackFrame = 4096;
// Bytes of the header and of a checksum.
constexpr std::uint32_t kPackHeader = 40 + wire::kChecksumBytes;

bool pack_begin(State& s, Peer& p, bool packets, Seqnum first) {
  Packing& pack = s.packing;
  if (!pack.records) pack.records.reset(new (std::nothrow) std::byte[kPackFrame]);
  // Packets that repair a connection must come through, however narrow the path has become.
  const std::uint32_t most = packets ? std::min(kPackFrame, s.config.base_frame) : kPackFrame;
  const std::uint32_t frame = std::min(p.agreed.frame_max, most);
  const auto record = static_cast<std::uint32_t>(packets ? wire::kPacketRecord + wire::kSharedPacketMax
                                                         : wire::kPackRecordMax + wire::kSmallMax);
  if (!pack.records || frame < kPackHeader + 2 * record) return false;
  pack.peer = &p;
  pack.packets = packets;
  pack.began = s.now;
  pack.first = first;
  pack.count = pack.length = 0;
  pack.room = frame - kPackHeader;
  return true;
}

}  // namespace

std::byte* pack_room(State& s, Peer& p, bool packets, Seqnum first, std::uint32_t bytes) {
  Packing& pack = s.packing;
  if (pack.peer) {
    const bool joins =
        pack.peer == &p && pack.packets == packets && (packets || first == seq_add(pack.first, pack.count));
    if (!joins || pack.length + bytes > pack.room) pack_release(s);
  }
  if (!pack.peer && !pack_begin(s, p, packets, first)) return nullptr;
  return pack.records.get() + pack.length;
}

bool pack_add(State& s, const Request& r) {
  Packing& pack = s.packing;
  Peer& p = *r.peer;
  if (!pack.allowed || !s.config.pack || !(p.agreed.features & wire::kFeaturePack) || p.agreed.near_frame)
    return false;
  std::byte* const out = pack_room(s, p, false, r.seqnum, wire::kPackRecordMax + r.msg_length);
  if (!out) return false;
  wire::PackRecord record;
  record.match_info = r.match_info;
  record.length = static_cast<std::uint16_t>(r.msg_length);
  record.has_ext = r.needs_ext();
  if (record.has_ext) record.ext = ext_of(r);
  const std::size_t header = wire::encode_pack_record(out, record);
  payload_copy(r, out + header);
  pack.length += static_cast<std::uint32_t>(header) + r.msg_length;
  pack.count++;
  return true;
}

void pack_release(State& s) {
  Packing& pack = s.packing;
  if (!pack.peer) return;
  Peer& p = *std::exchange(pack.peer, nullptr);
  wire::TxFrame& frame = frame_begin(s, p, 2);
  if (pack.packets && pack.count == 1) {
    std::memcpy(frame.header, pack.ethernet.data(), wire::kEthernetHeader);
    const std::uint32_t length = pack.length - wire::kPacketRecord;
    std::memcpy(frame.header + wire::kEthernetHeader, pack.records.get() + wire::kPacketRecord, length);
    frame.header_length = wire::kEthernetHeader + length;
    frame.segment_count = 0;
    s.sink.frame_commit();
    return;
  }
  wire::Pack packet;
  header_fill(s, p, pack.first, true, packet);
  packet.length = static_cast<std::uint16_t>(pack.length);
  const auto head = frame_head(s, p, wire::PacketType::pack);
  frame.header_length = static_cast<std::uint32_t>(wire::encode_pack(frame.header, head, packet));
  frame.segment_count = 1;
  frame.segments[0] = {pack.records.get(), pack.length};
  frame_finish(s, frame, p.agreed.checksum);
  if (!pack.packets) ack_piggybacked(p);  // each packet settled this when it was made
  s.count(pack.packets ? Counter::send_gathered : Counter::send_pack)++;
  s.sink.flush();  // the next burst needs the memory
}

void pack_drop(State& s, const Peer& p) {
  if (s.packing.peer == &p) s.packing.peer = nullptr;
}

}  // namespace omx::protocol
