// SPDX-License-Identifier: BSD-3-Clause
// Short messages of a burst share frames (docs/wire.md 14): a frame costs its sender and its receiver about a
// microsecond each, whatever is in it. They are numbered and acknowledged one by one, and each is repeated by
// itself.
#include <algorithm>
#include <new>

#include "protocol/state.h"

namespace omx::protocol {

namespace {

// More would only keep the receiver waiting for the first.
constexpr std::uint32_t kPackFrame = 4096;
// Of the header, and of a checksum.
constexpr std::uint32_t kPackHeader = 40 + wire::kChecksumBytes;

bool pack_begin(Packing& pack, const Request& r) {
  if (!pack.records) pack.records.reset(new (std::nothrow) std::byte[kPackFrame]);
  const std::uint32_t frame = std::min(r.partner->frame_max, kPackFrame);
  if (!pack.records || frame < kPackHeader + 2 * (wire::kPackRecordMax + wire::kSmallMax)) return false;
  pack.partner = r.partner;
  pack.began = r.last_sent;
  pack.first = r.seqnum;
  pack.count = pack.length = 0;
  pack.room = frame - kPackHeader;
  return true;
}

}  // namespace

bool pack_add(State& s, const Request& r) {
  Packing& pack = s.packing;
  const Partner& p = *r.partner;
  if (!pack.allowed || !s.config.pack || !(p.features & wire::kFeaturePack) || p.near_frame) return false;
  if (pack.partner) {
    const std::uint32_t most = wire::kPackRecordMax + r.msg_length;
    const bool joins = pack.partner == &p && r.seqnum == seq_add(pack.first, pack.count);
    if (!joins || pack.length + most > pack.room) pack_release(s);
  }
  if (!pack.partner && !pack_begin(pack, r)) return false;
  wire::PackRecord record;
  record.match_info = r.match_info;
  record.length = static_cast<std::uint16_t>(r.msg_length);
  record.has_ext = r.needs_ext();
  if (record.has_ext) record.ext = ext_of(r);
  std::byte* out = pack.records.get() + pack.length;
  const std::size_t header = wire::encode_pack_record(out, record);
  payload_copy(r, out + header);
  pack.length += static_cast<std::uint32_t>(header) + r.msg_length;
  pack.count++;
  return true;
}

void pack_release(State& s) {
  Packing& pack = s.packing;
  if (!pack.partner) return;
  Partner& p = *std::exchange(pack.partner, nullptr);
  wire::Pack packet;
  header_fill(s, p, pack.first, true, packet);
  packet.length = static_cast<std::uint16_t>(pack.length);
  wire::TxFrame& frame = s.sink.frame_begin(2);
  const auto head = frame_head(s, p, wire::PacketType::pack);
  frame.header_length = static_cast<std::uint32_t>(wire::encode_pack(frame.header, head, packet));
  frame.segment_count = 1;
  frame.segments[0] = {pack.records.get(), pack.length};
  frame_finish(s, frame, p.checksum);
  ack_piggybacked(p);
  s.count(Counter::send_pack)++;
  s.sink.flush();  // the next burst needs the memory
}

void pack_drop(State& s, const Partner& p) {
  if (s.packing.partner == &p) s.packing.partner = nullptr;
}

}  // namespace omx::protocol
