// SPDX-License-Identifier: BSD-3-Clause
// TRUC, the two NACKs and PROBE: packets about the conversation, without user data.
#include "wire/codec_control.h"

#include <cassert>
#include <cstring>

#include "wire/layout.h"

namespace omx::wire {

using namespace layout;

static_assert(sizeof(Truc::sack) == truc::kSackBytes);

std::size_t encode_truc(std::byte* out, const Head& head, const Truc& packet) {
  put_head(out, head);
  put_first(out, PacketType::truc, packet.dst_endpoint, packet.src_endpoint, packet.flags);
  const std::uint32_t length = packet.has_sack ? truc::kAckBytes + truc::kSackBytes : truc::kAckBytes;
  store_be32(out + truc::kLength, length << 24);
  store_be32(out + truc::kSession, packet.session);
  store_be32(out + truc::kDataType, std::uint32_t{truc::kAckType} << 24 | packet.seqnum);
  store_be32(out + truc::kSessionAgain, packet.session);
  store_be32(out + truc::kAcknum, packet.acknum);
  store_be32(out + truc::kSendSeq, std::uint32_t{packet.send_seq} << 16 | std::uint32_t{packet.resent} << 8);
  if (packet.has_sack) std::memcpy(out + truc::kSack, packet.sack, truc::kSackBytes);
  return truc::kData + length;
}

Drop decode_truc(Frame frame, bool extended, Truc& packet) {
  if (frame.size() < truc::kEnd) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::truc)) return Drop::bad_type;
  const std::byte* in = frame.data();
  const std::size_t length = load8(in + truc::kLength);
  if (length < truc::kAckBytes) return Drop::bad_length;
  packet.flags = flags_at(frame, kFlags, extended);
  if (frame.size() < truc::kData + length + trailer_bytes(packet.flags)) return Drop::truncated;
  if (load8(in + truc::kDataType) != truc::kAckType) return Drop::bad_type;
  packet.session = load_be32(in + truc::kSession);
  // The session stands in a TRUC twice. Two different ones make it invalid.
  if (load_be32(in + truc::kSessionAgain) != packet.session) return Drop::bad_type;
  packet.dst_endpoint = load8(in + kDstEndpoint);
  packet.src_endpoint = load8(in + kSrcEndpoint);
  packet.seqnum = load_be16(in + truc::kSeqnum);
  packet.acknum = load_be32(in + truc::kAcknum);
  packet.send_seq = load_be16(in + truc::kSendSeq);
  packet.resent = load8(in + truc::kResent);
  packet.has_sack = extended && length >= truc::kAckBytes + truc::kSackBytes;
  if (packet.has_sack) std::memcpy(packet.sack, in + truc::kSack, truc::kSackBytes);
  return Drop::none;
}

std::size_t encode_nack_lib(std::byte* out, const Head& head, const NackLib& packet) {
  put_head(out, head);
  put_first(out, PacketType::nack_lib, packet.src_endpoint, packet.flags,
            static_cast<std::uint8_t>(packet.code));
  store_be32(out + 20, 0);
  store_be32(out + 24, std::uint32_t{packet.dst_endpoint} << 16 | packet.peer_index);
  store_be32(out + nack_lib::kSeqnum, std::uint32_t{packet.seqnum} << 16);
  return nack_lib::kEnd;
}

Drop decode_nack_lib(Frame frame, bool extended, NackLib& packet) {
  if (frame.size() < nack_lib::kEnd) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::nack_lib)) return Drop::bad_type;
  const std::byte* in = frame.data();
  packet.flags = flags_at(frame, kNackFlags, extended);
  if (frame.size() < nack_lib::kEnd + trailer_bytes(packet.flags)) return Drop::truncated;
  packet.src_endpoint = load8(in + nack_lib::kSrcEndpoint);
  packet.dst_endpoint = load8(in + nack_lib::kDstEndpoint);
  packet.code = static_cast<NackCode>(load8(in + nack_lib::kCode));
  packet.peer_index = load_be16(in + nack_lib::kPeerIndexAgain);
  packet.seqnum = load_be16(in + nack_lib::kSeqnum);
  return Drop::none;
}

std::size_t encode_nack_mcp(std::byte* out, const Head& head, const NackMcp& packet) {
  put_head(out, head);
  put_first(out, PacketType::nack_mcp, packet.src_endpoint, packet.flags,
            static_cast<std::uint8_t>(packet.code));
  store_be32(out + nack_mcp::kRefusing, std::uint32_t{packet.refusing_endpoint} << 24);
  store_be32(out + nack_mcp::kHandle, packet.pull_handle);
  store_be32(out + nack_mcp::kMagic, packet.magic);
  return nack_mcp::kEnd;
}

Drop decode_nack_mcp(Frame frame, bool extended, NackMcp& packet) {
  if (frame.size() < nack_mcp::kEnd) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::nack_mcp)) return Drop::bad_type;
  const std::byte* in = frame.data();
  packet.flags = flags_at(frame, kNackFlags, extended);
  if (frame.size() < nack_mcp::kEnd + trailer_bytes(packet.flags)) return Drop::truncated;
  packet.src_endpoint = load8(in + nack_mcp::kSrcEndpoint);
  packet.refusing_endpoint = load8(in + nack_mcp::kRefusing);
  packet.code = static_cast<NackCode>(load8(in + nack_mcp::kCode));
  packet.pull_handle = load_be32(in + nack_mcp::kHandle);
  packet.magic = load_be32(in + nack_mcp::kMagic);
  return Drop::none;
}

std::size_t encode_probe(std::byte* out, const Head& head, const Probe& packet) {
  assert(packet.size >= kMinFrame);
  assert(packet.size <= probe::kSizeMax);
  put_head(out, head);
  put_first(out, PacketType::probe, packet.dst_endpoint, packet.src_endpoint, packet.flags);
  store_be32(out + probe::kSession, packet.session);
  store_be32(out + probe::kSize, packet.size);
  store_be32(out + probe::kCookie, packet.cookie);
  std::memset(out + probe::kIsReply, 0, probe::kEnd - probe::kIsReply);
  store8(out + probe::kIsReply, packet.is_reply);
  return probe::kEnd;
}

Drop decode_probe(Frame frame, Probe& packet) {
  if (frame.size() < probe::kEnd) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::probe)) return Drop::bad_type;
  const std::byte* in = frame.data();
  packet.size = load_be32(in + probe::kSize);
  if (packet.size < kMinFrame || packet.size > probe::kSizeMax) return Drop::bad_length;
  if (frame.size() < packet.size) return Drop::truncated;
  packet.dst_endpoint = load8(in + kDstEndpoint);
  packet.src_endpoint = load8(in + kSrcEndpoint);
  packet.flags = load8(in + kFlags);  // only extended peers know this type
  packet.session = load_be32(in + probe::kSession);
  packet.cookie = load_be32(in + probe::kCookie);
  packet.is_reply = load8(in + probe::kIsReply) != 0;
  return Drop::none;
}

}  // namespace omx::wire
