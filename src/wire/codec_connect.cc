// SPDX-License-Identifier: BSD-3-Clause
// CONNECT with its extension block: the only packet that may be received before the peer's abilities are
// known.
#include "wire/codec_connect.h"

#include <bit>
#include <cstring>

#include "base/crc32c.h"
#include "wire/layout.h"

namespace omx::wire {

using namespace layout;

namespace {

// The size of the largest SMALL with every extension. A peer that cannot receive this cannot talk to us at
// all, and sizes derived from less would underflow.
constexpr std::uint32_t kMaxFrameLeast = message::kEnd + kHeaderExtBytes + kSmallMax + kChecksumBytes;

std::uint32_t ext_crc(const std::byte* frame, std::size_t crc_at) {
  return crc32c(0, frame + kEthertypeAt, crc_at - kEthertypeAt);
}

std::uint8_t ext_bytes(const ConnectExt& ext) {
  const int bulk = ext.features & kFeatureBulk ? connect_ext::kBulkBytes : 0;
  const int rails = ext.features & kFeatureRails ? connect_ext::kRailsBytes : 0;
  return static_cast<std::uint8_t>(connect_ext::kBytes + bulk + rails);
}

std::size_t rails_at(const ConnectExt& ext) {
  return connect_ext::kPartsEnd + (ext.features & kFeatureBulk ? connect_ext::kBulkBytes : 0);
}

void put_rails(std::byte* out, const RailNics& rails) {
  std::memset(out, 0, connect_ext::kRailsBytes);
  store8(out + connect_ext::kRailsCount, rails.count);
  for (std::size_t i = 0; i < rails.count; i++)
    mac_store(out + connect_ext::kRailsNics + i * connect_ext::kRailsNic, rails.nics[i]);
}

// Reads the boards of an endpoint. Returns false if the addresses cannot be those of boards.
bool get_rails(const std::byte* in, RailNics& rails) {
  constexpr NicId kMulticast = 1ULL << 40;
  const std::uint8_t count = load8(in + connect_ext::kRailsCount);
  if (count < 2 || count > kRailsMost) return false;
  for (rails.count = 0; rails.count < count; rails.count++) {
    const NicId nic = mac_load(in + connect_ext::kRailsNics + rails.count * connect_ext::kRailsNic);
    if (nic == 0 || (nic & kMulticast) || rails.place(nic) != kRailsMost) return false;
    rails.nics[rails.count] = nic;
  }
  return true;
}

void put_ext(std::byte* out, const ConnectExt& ext) {
  store_be32(out + connect_ext::kMagic, kConnectExtMagic);
  store8(out + connect_ext::kVersion, ext.version);
  store8(out + connect_ext::kSize, ext_bytes(ext));
  store_be16(out + connect_ext::kFeatures, ext.features);
  store_be32(out + connect_ext::kMaxFrame, ext.max_frame);
  store_be16(out + connect_ext::kEagerFrames, ext.eager_frames);
  store8(out + connect_ext::kPullFrames, ext.pull_frames);
  store8(out + connect_ext::kMode, static_cast<std::uint8_t>(ext.mode));
  store_be32(out + connect_ext::kGeneration, ext.generation & kCountGenerationMask);
  store_be32(out + connect_ext::kPeerGeneration,
             (ext.peer_generation & kCountGenerationMask) |
                 (ext.peer_generation_in_use ? kCountGenerationMask + 1 : 0));
  if (ext.features & kFeatureBulk) {
    std::memcpy(out + connect_ext::kBulkIp, ext.bulk_address.ip.data(), ext.bulk_address.ip.size());
    store_be16(out + connect_ext::kBulkPort, ext.bulk_address.port);
    store_be16(out + connect_ext::kBulkFrame, ext.bulk_address.frame);
  }
  if (ext.features & kFeatureRails) put_rails(out + rails_at(ext), ext.rails);
  const std::size_t crc_at = connect::kEnd + ext_bytes(ext) - kChecksumBytes;
  store_be32(out + crc_at, ext_crc(out, crc_at));
}

// Returns whether a frame probably holds a block whose length or magic was damaged. Without this check the
// peer would count as one that has no block, and its frames would not be checked any more. Peers without a
// block pad to 60 bytes.
bool hidden_ext(const std::byte* in, std::size_t frame_size) {
  constexpr int kDamagedBits = 4;
  return frame_size >= connect_ext::kEnd &&
         std::popcount(load_be32(in + connect_ext::kMagic) ^ kConnectExtMagic) <= kDamagedBits;
}

// Reads the block. `length` bytes of connect data are in the frame. The block of a newer version may be
// longer: the fields known here come first, and the checksum stays last.
Drop get_ext(const std::byte* in, std::size_t frame_size, std::size_t length, ConnectExt& ext) {
  ext = ConnectExt{};
  const bool announced = length >= connect::kDataBytes + connect_ext::kBytes &&
                         load_be32(in + connect_ext::kMagic) == kConnectExtMagic;
  if (!announced) return hidden_ext(in, frame_size) ? Drop::bad_checksum : Drop::none;
  const std::size_t size = load8(in + connect_ext::kSize);
  if (size < connect_ext::kBytes) return Drop::bad_length;
  if (connect::kDataBytes + size > length) return Drop::bad_length;
  const std::size_t crc_at = connect::kEnd + size - kChecksumBytes;
  if (load_be32(in + crc_at) != ext_crc(in, crc_at)) return Drop::bad_checksum;
  ext.present = true;
  ext.version = load8(in + connect_ext::kVersion);
  ext.mode = static_cast<Mode>(load8(in + connect_ext::kMode));
  ext.features = load_be16(in + connect_ext::kFeatures);
  ext.max_frame = load_be32(in + connect_ext::kMaxFrame);
  ext.pull_frames = load8(in + connect_ext::kPullFrames);
  ext.eager_frames = load_be16(in + connect_ext::kEagerFrames);
  ext.generation = load_be32(in + connect_ext::kGeneration) & kCountGenerationMask;
  const std::uint32_t peer_generation = load_be32(in + connect_ext::kPeerGeneration);
  ext.peer_generation = peer_generation & kCountGenerationMask;
  ext.peer_generation_in_use = peer_generation > kCountGenerationMask;
  if (ext.features & kFeatureBulk) {
    if (size < connect_ext::kBytes + connect_ext::kBulkBytes) return Drop::bad_length;
    std::memcpy(ext.bulk_address.ip.data(), in + connect_ext::kBulkIp, ext.bulk_address.ip.size());
    ext.bulk_address.port = load_be16(in + connect_ext::kBulkPort);
    ext.bulk_address.frame = load_be16(in + connect_ext::kBulkFrame);
    if (!ext.bulk_address.present() || ext.bulk_address.frame < kMaxFrameLeast) return Drop::bad_length;
  }
  if (ext.features & kFeatureRails) {
    if (size < ext_bytes(ext) || !get_rails(in + rails_at(ext), ext.rails)) return Drop::bad_length;
  }
  // Zeros would make the arithmetic of blocks and windows meaningless.
  if (ext.max_frame < kMaxFrameLeast || ext.pull_frames == 0 || ext.eager_frames == 0)
    return Drop::bad_length;
  return Drop::none;
}

}  // namespace

std::size_t encode_connect(std::byte* out, const Head& head, const Connect& packet) {
  put_head(out, head);
  put_first(out, PacketType::connect, packet.dst_endpoint, packet.src_endpoint, 0);
  const std::uint32_t length =
      packet.ext.present ? connect::kDataBytes + ext_bytes(packet.ext) : connect::kDataBytes;
  store_be32(out + connect::kLength, length << 24);
  store_be16(out + connect::kSeqnum, packet.seqnum);
  store_be16(out + connect::kSrcDstPeerIndex, packet.src_dst_peer_index);
  store_be32(out + connect::kData - 4, 0);
  store_be32(out + connect::kSrcSession, packet.src_session);
  store_be32(out + connect::kKeyOrTargetSession, packet.key_or_target_session);
  store_be16(out + connect::kRecvSeqnumStart, packet.target_recv_seqnum_start);
  store8(out + connect::kIsReply, packet.is_reply);
  store8(out + connect::kConnectSeqnum, packet.connect_seqnum);
  store_be32(out + connect::kStatus, packet.is_reply ? std::uint32_t{packet.status} << 24 : 0);
  if (packet.ext.present) put_ext(out, packet.ext);
  return connect::kData + length;
}

Drop decode_connect(Frame frame, Connect& packet) {
  if (frame.size() < connect::kEnd) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::connect)) return Drop::bad_type;
  const std::byte* in = frame.data();
  const std::size_t length = load8(in + connect::kLength);
  if (length < connect::kDataBytes) return Drop::bad_length;
  if (frame.size() < connect::kData + length) return Drop::truncated;
  packet.dst_endpoint = load8(in + kDstEndpoint);
  packet.src_endpoint = load8(in + kSrcEndpoint);
  packet.seqnum = load_be16(in + connect::kSeqnum);
  packet.src_dst_peer_index = load_be16(in + connect::kSrcDstPeerIndex);
  packet.src_session = load_be32(in + connect::kSrcSession);
  packet.key_or_target_session = load_be32(in + connect::kKeyOrTargetSession);
  packet.target_recv_seqnum_start = load_be16(in + connect::kRecvSeqnumStart);
  packet.is_reply = load8(in + connect::kIsReply) != 0;
  packet.connect_seqnum = load8(in + connect::kConnectSeqnum);
  packet.status = packet.is_reply ? load8(in + connect::kStatus) : std::uint8_t{0};
  return get_ext(in, frame.size(), length, packet.ext);
}

}  // namespace omx::wire
