// SPDX-License-Identifier: BSD-3-Clause
// PACK: short messages to one partner that share a frame (docs/wire.md 14).
#include <cassert>

#include "wire/layout.h"

namespace omx::wire {

using namespace layout;

std::size_t encode_pack(std::byte* out, const Head& head, const Pack& packet) {
  put_head(out, head);
  put_first(out, PacketType::pack, packet.dst_endpoint, packet.src_endpoint, packet.flags);
  store_be16(out + message::kLength, packet.length);
  store_be16(out + message::kChecksum, 0);
  store_be16(out + message::kSeqnum, packet.seqnum);
  store_be16(out + message::kPiggyack, packet.piggyack);
  store_be64(out + message::kMatch, 0);
  store_be32(out + message::kSession, packet.session);
  return message::kEnd;
}

std::size_t encode_pack_record(std::byte* out, const PackRecord& record) {
  assert(record.length <= kSmallMax);
  store_be64(out + pack_record::kMatch, record.match_info);
  store_be16(out + pack_record::kLength, record.length);
  store_be16(out + pack_record::kFlags, record.has_ext ? kFlagHeaderExt << 8 : 0);
  return record.has_ext ? put_header_ext(out + pack_record::kEnd, record.ext) + pack_record::kEnd
                        : pack_record::kEnd;
}

Drop decode_pack(Frame frame, Pack& packet, Frame& records) {
  if (frame.size() < message::kEnd) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::pack)) return Drop::bad_type;
  const std::byte* in = frame.data();
  packet.length = load_be16(in + message::kLength);
  if (packet.length < pack_record::kEnd) return Drop::bad_length;
  packet.dst_endpoint = load8(in + kDstEndpoint);
  packet.src_endpoint = load8(in + kSrcEndpoint);
  packet.flags = load8(in + kFlags);
  if (frame.size() < message::kEnd + packet.length + trailer_bytes(packet.flags)) return Drop::truncated;
  packet.seqnum = load_be16(in + message::kSeqnum);
  packet.piggyack = load_be16(in + message::kPiggyack);
  packet.session = load_be32(in + message::kSession);
  records = frame.subspan(message::kEnd, packet.length);
  return Drop::none;
}

Drop decode_pack_record(Frame& records, PackRecord& record, const std::byte** data) {
  if (records.size() < pack_record::kEnd) return Drop::truncated;
  const std::byte* in = records.data();
  record.match_info = load_be64(in + pack_record::kMatch);
  record.length = load_be16(in + pack_record::kLength);
  record.has_ext = load8(in + pack_record::kFlags) & kFlagHeaderExt;
  if (record.length > kSmallMax) return Drop::bad_length;
  const std::size_t start = pack_record::kEnd + (record.has_ext ? kHeaderExtBytes : 0);
  if (records.size() < start + record.length) return Drop::truncated;
  record.ext = record.has_ext ? get_header_ext(in + pack_record::kEnd) : HeaderExt{};
  *data = in + start;
  records = records.subspan(start + record.length);
  return Drop::none;
}

}  // namespace omx::wire
