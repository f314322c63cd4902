// SPDX-License-Identifier: BSD-3-Clause
// TINY, SMALL, MEDIUM, RNDV and PACK: the packets that carry a matching header.
#include "wire/codec_message.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "wire/layout.h"

namespace omx::wire {

using namespace layout;

namespace {

void put_message(std::byte* out, const Message& packet) {
  store_be16(out + message::kSeqnum, packet.seqnum);
  store_be16(out + message::kPiggyack, packet.piggyack);
  store_be64(out + message::kMatch, packet.match_info);
  store_be32(out + message::kSession, packet.session);
}

void get_message(const std::byte* in, std::uint8_t flags, Message& packet) {
  packet.dst_endpoint = load8(in + kDstEndpoint);
  packet.src_endpoint = load8(in + kSrcEndpoint);
  packet.flags = flags;
  packet.seqnum = load_be16(in + message::kSeqnum);
  packet.piggyack = load_be16(in + message::kPiggyack);
  packet.match_info = load_be64(in + message::kMatch);
  packet.session = load_be32(in + message::kSession);
}

std::size_t put_header_ext(std::byte* out, const HeaderExt& ext) {
  store_be64(out, std::uint64_t{ext.message_class} << 56 | std::uint64_t{ext.data_valid} << 48);
  store_be64(out + header_ext::kData, ext.data);
  return kHeaderExtBytes;
}
HeaderExt get_header_ext(const std::byte* in) {
  return {load8(in + header_ext::kMessageClass), load8(in + header_ext::kDataValid),
          load_be64(in + header_ext::kData)};
}

// Writes the header extension at `end` if the packet has one. Returns where the data start.
std::size_t put_ext(std::byte* out, std::size_t end, const Message& packet) {
  if (!(packet.flags & kFlagHeaderExt)) return end;
  return end + put_header_ext(out + end, packet.ext);
}

void get_ext(const std::byte* at, Message& packet) {
  packet.ext = packet.flags & kFlagHeaderExt ? get_header_ext(at) : HeaderExt{};
}

// Returns whether a fragment lies where its number says. Every fragment but the last is `unit` bytes long, so
// fragments neither overlap nor leave holes. An empty message is one empty fragment.
bool fragment_in_place(const Medium& packet, std::uint64_t unit) {
  const std::uint64_t offset = packet.frag_seqnum * unit;
  if (offset > packet.length) return false;
  return packet.frag_length == std::min<std::uint64_t>(unit, packet.length - offset);
}

}  // namespace

std::size_t encode_eager(std::byte* out, const Head& head, const Eager& packet) {
  const PacketType type = head.type == PacketType::tiny ? PacketType::tiny : PacketType::small;
  assert(packet.length <= (type == PacketType::tiny ? kTinyMax : kSmallMax));
  put_head(out, head);
  put_first(out, type, packet.dst_endpoint, packet.src_endpoint, packet.flags);
  store_be16(out + message::kLength, packet.length);
  store_be16(out + message::kChecksum, packet.checksum);
  put_message(out, packet);
  return put_ext(out, message::kEnd, packet);
}

Drop decode_eager(Frame frame, bool extended, Eager& packet, const std::byte** data) {
  if (frame.size() < message::kEnd) return Drop::frame_too_short;
  const std::byte* in = frame.data();
  const bool tiny = has_type(frame, PacketType::tiny);
  if (!tiny && !has_type(frame, PacketType::small)) return Drop::bad_type;
  packet.length = load_be16(in + message::kLength);
  if (packet.length > (tiny ? kTinyMax : kSmallMax)) return Drop::bad_length;
  const std::uint8_t flags = flags_at(frame, kFlags, extended);
  const std::size_t start = message::kEnd + ext_bytes(flags);
  if (frame.size() < start + packet.length + trailer_bytes(flags)) return Drop::truncated;
  packet.checksum = load_be16(in + message::kChecksum);
  get_message(in, flags, packet);
  get_ext(in + message::kEnd, packet);
  *data = in + start;
  return Drop::none;
}

std::size_t encode_medium(std::byte* out, const Head& head, Mode mode, const Medium& packet) {
  put_head(out, head);
  put_first(out, PacketType::medium, packet.dst_endpoint, packet.src_endpoint, packet.flags);
  put_message(out, packet);
  store_be16(out + medium::kFragLength, packet.frag_length);
  store8(out + medium::kFragSeqnum, packet.frag_seqnum);
  store_be16(out + medium::kChecksum, packet.checksum);
  if (mode == Mode::mxoe) {
    assert(packet.length <= 0xffff);
    store_be32(out + message::kLength, packet.length << 16);  // a 16-bit length and a pad
    store8(out + medium::kFragPipeline, packet.frag_pipeline);
    store_be16(out + medium::kFragUnit, 0);
  } else {
    store_be32(out + message::kLength, packet.length);
    store8(out + medium::kFragPipeline, 0);
    store_be16(out + medium::kFragUnit, packet.frag_unit);
  }
  return put_ext(out, medium::kEnd, packet);
}

std::size_t medium_header_bytes(const Medium& packet) {
  static_assert(medium::kEnd + kHeaderExtBytes <= kMediumHeaderMost);
  return medium::kEnd + ext_bytes(packet.flags);
}

Drop decode_medium(Frame frame, Mode mode, bool extended, Medium& packet, const std::byte** data) {
  if (frame.size() < medium::kEnd) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::medium)) return Drop::bad_type;
  const std::byte* in = frame.data();
  packet.frag_length = load_be16(in + medium::kFragLength);
  packet.frag_seqnum = load8(in + medium::kFragSeqnum);
  if (mode == Mode::mxoe) {
    packet.length = load_be16(in + message::kLength);
    packet.frag_pipeline = load8(in + medium::kFragPipeline);
    packet.frag_unit = 0;
    if (packet.frag_pipeline > 15) return Drop::bad_length;
    if (!fragment_in_place(packet, std::uint64_t{1} << packet.frag_pipeline)) return Drop::bad_length;
  } else {
    packet.length = load_be32(in + message::kLength);
    packet.frag_pipeline = 0;
    packet.frag_unit = extended ? load_be16(in + medium::kFragUnit) : std::uint16_t{0};
    // Without a unit only the engine knows the fragment's place.
    if (packet.frag_length > packet.length) return Drop::bad_length;
    if (packet.frag_unit && !fragment_in_place(packet, packet.frag_unit)) return Drop::bad_length;
  }
  if (packet.frag_length == 0 && packet.length != 0) return Drop::bad_length;
  const std::uint8_t flags = flags_at(frame, kFlags, extended);
  const std::size_t start = medium::kEnd + ext_bytes(flags);
  if (frame.size() < start + packet.frag_length + trailer_bytes(flags)) return Drop::truncated;
  packet.checksum = load_be16(in + medium::kChecksum);
  get_message(in, flags, packet);
  get_ext(in + medium::kEnd, packet);
  *data = in + start;
  return Drop::none;
}

std::size_t encode_rndv(std::byte* out, const Head& head, const Rndv& packet, const std::byte* tail) {
  assert(packet.tail <= kRndvTailMost && (tail || packet.tail == 0));
  put_head(out, head);
  put_first(out, PacketType::rndv, packet.dst_endpoint, packet.src_endpoint, packet.flags);
  const std::size_t unscheduled = packet.flags & kFlagUnscheduled ? rndv::kUnscheduledBytes : 0;
  const std::size_t more = unscheduled + (packet.flags & kFlagPage ? rndv::kPageBytes : 0);
  store_be16(out + message::kLength, static_cast<std::uint16_t>(rndv::kDataBytes + more + packet.tail));
  store_be16(out + message::kChecksum, packet.checksum);
  put_message(out, packet);
  store_be32(out + rndv::kMsgLength, packet.msg_length);
  store8(out + rndv::kRdmaId, packet.rdma_id);
  store8(out + rndv::kRdmaSeqnum, packet.rdma_seqnum);
  store_be16(out + rndv::kRdmaOffset, packet.rdma_offset);
  if (more > unscheduled) store_be32(out + rndv::kEnd + unscheduled, std::uint32_t{packet.page} << 16);
  if (unscheduled > 0) {
    store_be16(out + rndv::kUnscheduledUnit, packet.unscheduled_unit);
    store8(out + rndv::kUnscheduledFrames, packet.unscheduled_frames);
    store8(out + rndv::kUnscheduledFrames + 1, 0);
  }
  if (packet.tail > 0) std::memcpy(out + rndv::kEnd + more, tail, packet.tail);
  return put_ext(out, rndv::kEnd + more + packet.tail, packet);
}

Drop decode_rndv(Frame frame, bool extended, Rndv& packet, const std::byte** tail) {
  if (frame.size() < rndv::kEnd) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::rndv)) return Drop::bad_type;
  const std::byte* in = frame.data();
  const std::size_t length = load_be16(in + message::kLength);
  if (length < rndv::kDataBytes) return Drop::bad_length;
  const std::uint8_t flags = flags_at(frame, kFlags, extended);
  const std::size_t end = rndv::kData + length;
  if (frame.size() < end + ext_bytes(flags) + trailer_bytes(flags)) return Drop::truncated;
  packet.checksum = load_be16(in + message::kChecksum);
  packet.msg_length = load_be32(in + rndv::kMsgLength);
  packet.rdma_id = load8(in + rndv::kRdmaId);
  packet.rdma_seqnum = load8(in + rndv::kRdmaSeqnum);
  packet.rdma_offset = load_be16(in + rndv::kRdmaOffset);
  const bool unscheduled = flags & kFlagUnscheduled;
  const std::size_t page = rndv::kEnd + (unscheduled ? rndv::kUnscheduledBytes : 0);
  const std::size_t before = page - rndv::kEnd + (flags & kFlagPage ? rndv::kPageBytes : 0);
  if (length < rndv::kDataBytes + before) return Drop::bad_length;
  packet.unscheduled_unit = unscheduled ? load_be16(in + rndv::kUnscheduledUnit) : 0;
  packet.unscheduled_frames = unscheduled ? load8(in + rndv::kUnscheduledFrames) : 0;
  packet.page = flags & kFlagPage ? load_be16(in + page) : std::uint16_t{0};
  const std::size_t more = length - rndv::kDataBytes - before;
  packet.tail = static_cast<std::uint16_t>(extended && more <= kRndvTailMost ? more : 0);
  *tail = in + rndv::kEnd + before;
  get_message(in, flags, packet);
  get_ext(in + end, packet);
  return Drop::none;
}

std::size_t encode_pack(std::byte* out, const Head& head, const Pack& packet) {
  put_head(out, head);
  put_first(out, PacketType::pack, packet.dst_endpoint, packet.src_endpoint, packet.flags);
  store_be16(out + message::kLength, packet.length);
  store_be16(out + message::kChecksum, 0);
  put_message(out, packet);
  return message::kEnd;
}

std::size_t encode_pack_record(std::byte* out, const PackRecord& record) {
  assert(record.length <= (record.packet ? kSharedPacketMax : kSmallMax));
  store_be64(out + pack_record::kMatch, record.match_info);
  store_be16(out + pack_record::kLength, record.length);
  unsigned flags = record.packet ? pack_record::kPacket : 0U;
  if (record.has_ext) flags |= kFlagHeaderExt;
  store_be16(out + pack_record::kFlags, static_cast<std::uint16_t>(flags << 8));
  return record.has_ext ? put_header_ext(out + pack_record::kEnd, record.ext) + pack_record::kEnd
                        : pack_record::kEnd;
}

Drop decode_pack(Frame frame, Pack& packet, Frame& records) {
  if (frame.size() < message::kEnd) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::pack)) return Drop::bad_type;
  const std::byte* in = frame.data();
  packet.length = load_be16(in + message::kLength);
  if (packet.length < pack_record::kEnd) return Drop::bad_length;
  const std::uint8_t flags = load8(in + kFlags);
  if (frame.size() < message::kEnd + packet.length + trailer_bytes(flags)) return Drop::truncated;
  get_message(in, flags, packet);
  records = frame.subspan(message::kEnd, packet.length);
  return Drop::none;
}

bool holds_packets(Frame records) {
  return records.size() >= pack_record::kEnd &&
         load8(records.data() + pack_record::kFlags) & pack_record::kPacket;
}

Drop decode_pack_record(Frame& records, PackRecord& record, const std::byte** data) {
  if (records.size() < pack_record::kEnd) return Drop::truncated;
  const std::byte* in = records.data();
  record.match_info = load_be64(in + pack_record::kMatch);
  record.length = load_be16(in + pack_record::kLength);
  const std::uint8_t flags = load8(in + pack_record::kFlags);
  record.packet = flags & pack_record::kPacket;
  record.has_ext = !record.packet && (flags & kFlagHeaderExt);
  if (record.length > (record.packet ? kSharedPacketMax : kSmallMax)) return Drop::bad_length;
  const std::size_t start = pack_record::kEnd + (record.has_ext ? kHeaderExtBytes : 0);
  if (records.size() < start + record.length) return Drop::truncated;
  record.ext = record.has_ext ? get_header_ext(in + pack_record::kEnd) : HeaderExt{};
  *data = in + start;
  records = records.subspan(start + record.length);
  return Drop::none;
}

}  // namespace omx::wire
