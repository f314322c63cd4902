// SPDX-License-Identifier: BSD-3-Clause
// PULL, PULL_REPLY and NOTIFY: the packets of a large transfer after its rendezvous.
#include "wire/codec_pull.h"

#include <cassert>

#include "wire/layout.h"

namespace omx::wire {

using namespace layout;

std::size_t encode_pull(std::byte* out, const Head& head, Mode mode, const Pull& packet) {
  put_head(out, head);
  put_first(out, PacketType::pull, packet.dst_endpoint, packet.src_endpoint, packet.flags);
  store_be32(out + pull::kSession, packet.session);
  store_be32(out + pull::kTotalLength, packet.total_length);
  if (mode == Mode::mxoe) {
    assert(packet.rdma_id <= 0xff);
    assert(packet.rdma_offset <= 0xffff);
    assert(packet.first_frame_offset <= 0xffff);
    assert(packet.block_length <= 0xffff);
    store8(out + pull_mxoe::kRdmaId, static_cast<std::uint8_t>(packet.rdma_id));
    store8(out + pull_mxoe::kRdmaSeqnum, packet.rdma_seqnum);
    store_be16(out + pull_mxoe::kRdmaOffset, static_cast<std::uint16_t>(packet.rdma_offset));
    store_be32(out + pull_mxoe::kHandle, packet.pull_handle);
    store_be32(out + pull_mxoe::kMagic, packet.magic);
    store_be16(out + pull_mxoe::kFirstFrameOffset, static_cast<std::uint16_t>(packet.first_frame_offset));
    store_be16(out + pull_mxoe::kBlockLength, static_cast<std::uint16_t>(packet.block_length));
    store_be32(out + pull_mxoe::kFrameIndex, packet.frame_index);
    return pull_mxoe::kEnd;
  }
  store_be32(out + pull_omx::kRdmaId, packet.rdma_id);
  store_be16(out + pull_omx::kRdmaSeqnum, static_cast<std::uint16_t>(packet.rdma_seqnum << 8));
  store_be16(out + pull_omx::kReplyMax, packet.reply_max);
  store_be32(out + pull_omx::kRdmaOffset, packet.rdma_offset);
  store_be32(out + pull_omx::kHandle, packet.pull_handle);
  store_be32(out + pull_omx::kMagic, packet.magic);
  store_be32(out + pull_omx::kFirstFrameOffset, packet.first_frame_offset);
  store_be32(out + pull_omx::kBlockLength, packet.block_length);
  store_be32(out + pull_omx::kFrameIndex, packet.frame_index);
  return pull_omx::kEnd;
}

Drop decode_pull(Frame frame, Mode mode, bool extended, Pull& packet) {
  const std::size_t end = mode == Mode::mxoe ? pull_mxoe::kEnd : pull_omx::kEnd;
  if (frame.size() < end) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::pull)) return Drop::bad_type;
  const std::byte* in = frame.data();
  packet.flags = flags_at(frame, kFlags, extended);
  if (frame.size() < end + trailer_bytes(packet.flags)) return Drop::truncated;
  packet.dst_endpoint = load8(in + kDstEndpoint);
  packet.src_endpoint = load8(in + kSrcEndpoint);
  packet.session = load_be32(in + pull::kSession);
  packet.total_length = load_be32(in + pull::kTotalLength);
  if (mode == Mode::mxoe) {
    packet.rdma_id = load8(in + pull_mxoe::kRdmaId);
    packet.rdma_seqnum = load8(in + pull_mxoe::kRdmaSeqnum);
    packet.rdma_offset = load_be16(in + pull_mxoe::kRdmaOffset);
    packet.pull_handle = load_be32(in + pull_mxoe::kHandle);
    packet.magic = load_be32(in + pull_mxoe::kMagic);
    packet.first_frame_offset = load_be16(in + pull_mxoe::kFirstFrameOffset);
    packet.block_length = load_be16(in + pull_mxoe::kBlockLength);
    packet.frame_index = load_be32(in + pull_mxoe::kFrameIndex);
    packet.reply_max = 0;
    return Drop::none;
  }
  packet.rdma_id = load_be32(in + pull_omx::kRdmaId);
  packet.rdma_seqnum = load8(in + pull_omx::kRdmaSeqnum);
  packet.rdma_offset = load_be32(in + pull_omx::kRdmaOffset);
  packet.pull_handle = load_be32(in + pull_omx::kHandle);
  packet.magic = load_be32(in + pull_omx::kMagic);
  packet.first_frame_offset = load_be32(in + pull_omx::kFirstFrameOffset);
  packet.block_length = load_be32(in + pull_omx::kBlockLength);
  packet.frame_index = load_be32(in + pull_omx::kFrameIndex);
  packet.reply_max = extended ? load_be16(in + pull_omx::kReplyMax) : std::uint16_t{0};
  return Drop::none;
}

std::size_t encode_pull_reply(std::byte* out, const Head& head, const PullReply& packet) {
  assert(packet.frame_length > 0);
  static_assert(kPullReplySource == kPeerIndex && kPullReplyFlags == kPeerIndex + 1);
  Head own = head;
  own.peer_index = static_cast<std::uint16_t>(packet.src_endpoint << 8 | packet.flags);
  put_head(out, own);
  store8(out + kType, static_cast<std::uint8_t>(PacketType::pull_reply));
  store8(out + pull_reply::kFrameSeqnum, packet.frame_seqnum);
  store_be16(out + pull_reply::kFrameLength, packet.frame_length);
  store_be32(out + pull_reply::kMsgOffset, packet.msg_offset);
  store_be32(out + pull_reply::kHandle, packet.pull_handle);
  store_be32(out + pull_reply::kMagic, packet.magic);
  return pull_reply::kEnd;
}

Drop decode_pull_reply(Frame frame, bool extended, PullReply& packet, const std::byte** data) {
  if (frame.size() < pull_reply::kEnd) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::pull_reply)) return Drop::bad_type;
  const std::byte* in = frame.data();
  packet.flags = flags_at(frame, kPullReplyFlags, extended);
  packet.frame_length = load_be16(in + pull_reply::kFrameLength);
  if (packet.frame_length == 0) return Drop::bad_length;
  if (frame.size() < pull_reply::kEnd + packet.frame_length + trailer_bytes(packet.flags)) {
    return Drop::truncated;
  }
  packet.src_endpoint = load8(in + kPullReplySource);
  packet.frame_seqnum = load8(in + pull_reply::kFrameSeqnum);
  packet.msg_offset = load_be32(in + pull_reply::kMsgOffset);
  packet.pull_handle = load_be32(in + pull_reply::kHandle);
  packet.magic = load_be32(in + pull_reply::kMagic);
  *data = in + pull_reply::kEnd;
  return Drop::none;
}

std::size_t encode_notify(std::byte* out, const Head& head, const Notify& packet) {
  put_head(out, head);
  put_first(out, PacketType::notify, packet.dst_endpoint, packet.src_endpoint, packet.flags);
  store_be32(out + notify::kSession, packet.session);
  store_be32(out + notify::kTotalLength, packet.total_length);
  store_be32(out + notify::kRdmaId, std::uint32_t{packet.rdma_id} << 24 |
                                        std::uint32_t{packet.rdma_seqnum} << 16 |
                                        (packet.flags & kFlagPage ? packet.page : std::uint16_t{0}));
  store_be32(out + notify::kSeqnum - 2, packet.seqnum);
  store_be32(out + notify::kPiggyack, std::uint32_t{packet.piggyack} << 16);
  return notify::kEnd;
}

Drop decode_notify(Frame frame, bool extended, Notify& packet) {
  if (frame.size() < notify::kEnd) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::notify)) return Drop::bad_type;
  const std::byte* in = frame.data();
  packet.flags = flags_at(frame, kFlags, extended);
  if (frame.size() < notify::kEnd + trailer_bytes(packet.flags)) return Drop::truncated;
  packet.dst_endpoint = load8(in + kDstEndpoint);
  packet.src_endpoint = load8(in + kSrcEndpoint);
  packet.session = load_be32(in + notify::kSession);
  packet.total_length = load_be32(in + notify::kTotalLength);
  packet.rdma_id = load8(in + notify::kRdmaId);
  packet.rdma_seqnum = load8(in + notify::kRdmaSeqnum);
  packet.page = packet.flags & kFlagPage ? load_be16(in + notify::kPage) : std::uint16_t{0};
  packet.seqnum = load_be16(in + notify::kSeqnum);
  packet.piggyack = load_be16(in + notify::kPiggyack);
  return Drop::none;
}

}  // namespace omx::wire
