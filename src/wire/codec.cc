// SPDX-License-Identifier: BSD-3-Clause
// Functions for frames of any type: head, destination, flags, extent and checksum trailer.
#include "wire/codec.h"

#include "base/crc32c.h"
#include "wire/layout.h"

namespace omx::wire {

using namespace layout;

namespace {

PacketType type_of(Frame frame) {
  return static_cast<PacketType>(load8(frame.data() + kType));
}

// Returns whether packets of this type name both endpoints at the common places.
bool has_endpoints(PacketType type) {
  switch (type) {
    case PacketType::truc:
    case PacketType::connect:
    case PacketType::tiny:
    case PacketType::small:
    case PacketType::medium:
    case PacketType::rndv:
    case PacketType::pull:
    case PacketType::notify:
    case PacketType::probe:
    case PacketType::pack:
      return true;
    default:
      return false;
  }
}

// Returns how many bytes must be there before the length fields of a type can be read. Returns 0 for types
// without a layout.
std::size_t header_bytes(PacketType type, Mode mode) {
  switch (type) {
    case PacketType::raw:
      return kType + 1;
    case PacketType::host_query:
    case PacketType::host_reply:
      return host::kEnd;
    case PacketType::truc:
      return truc::kEnd;
    case PacketType::connect:
      return connect::kEnd;
    case PacketType::tiny:
    case PacketType::small:
    case PacketType::pack:
      return message::kEnd;
    case PacketType::medium:
      return medium::kEnd;
    case PacketType::rndv:
      return rndv::kEnd;
    case PacketType::pull:
      return mode == Mode::mxoe ? pull_mxoe::kEnd : pull_omx::kEnd;
    case PacketType::pull_reply:
      return pull_reply::kEnd;
    case PacketType::notify:
      return notify::kEnd;
    case PacketType::nack_lib:
    case PacketType::nack_mcp:
      return nack_lib::kEnd;
    case PacketType::probe:
      return probe::kEnd;
    case PacketType::none:
      break;
  }
  return 0;
}

}  // namespace

Drop decode_head(Frame frame, Head& head) {
  if (frame.size() < kType + 1) return Drop::frame_too_short;
  const std::byte* in = frame.data();
  if (load_be16(in + kEthertypeAt) != kEthertype) return Drop::bad_type;
  head.dst = load_be64(in) >> 16;
  head.src = load_be64(in + kSourceMac - 2) & kBroadcastNic;
  head.peer_index = load_be16(in + kPeerIndex);
  head.type = type_of(frame);
  return Drop::none;
}

std::optional<std::uint16_t> message_number(Frame frame) {
  if (frame.size() < message::kEnd) return std::nullopt;
  switch (type_of(frame)) {
    case PacketType::tiny:
    case PacketType::small:
    case PacketType::medium:
    case PacketType::rndv:
    case PacketType::pack:
      return load_be16(frame.data() + message::kSeqnum);
    case PacketType::notify:
      return load_be16(frame.data() + notify::kSeqnum);
    default:
      return std::nullopt;
  }
}

int destination_endpoint(Frame frame) {
  const std::byte* in = frame.data();
  const PacketType type = type_of(frame);
  if (has_endpoints(type)) return load8(in + kDstEndpoint);
  switch (type) {
    case PacketType::nack_lib:
      return load8(in + nack_lib::kDstEndpoint);
    case PacketType::pull_reply:
    case PacketType::nack_mcp:
      // Steering hardware sees this byte only, so it alone decides here too. The engine compares the whole
      // magic.
      static_assert(pull_reply::kMagic == nack_mcp::kMagic);
      return load8(in + pull_reply::kMagic + 3) ^ (kPullMagic & 0xff);
    default:
      return -1;
  }
}

int source_endpoint(Frame frame) {
  const std::byte* in = frame.data();
  const PacketType type = type_of(frame);
  if (has_endpoints(type)) return load8(in + kSrcEndpoint);
  switch (type) {
    case PacketType::pull_reply:
      return load8(in + kPullReplySource);
    case PacketType::nack_lib:
      return load8(in + nack_lib::kSrcEndpoint);
    case PacketType::nack_mcp:
      return load8(in + nack_mcp::kRefusing);
    default:
      return -1;
  }
}

bool sent_by(Frame frame, const FrameSender& sender) {
  if (mac_load(frame.data() + kSourceMac) != sender.nic) return false;
  const PacketType type = type_of(frame);
  const bool says = sender.named_always || (type != PacketType::pull_reply && type != PacketType::nack_mcp);
  return !says || source_endpoint(frame) == sender.endpoint;
}

std::uint8_t frame_flags(Frame frame) {
  const PacketType type = type_of(frame);
  if (type != PacketType::connect && has_endpoints(type)) return load8(frame.data() + kFlags);
  switch (type) {
    case PacketType::nack_lib:
    case PacketType::nack_mcp:
      return load8(frame.data() + kNackFlags);
    case PacketType::pull_reply:
      return load8(frame.data() + kPullReplyFlags);
    default:
      return 0;
  }
}

std::size_t gso_frame_bytes(Frame head) {
  if (head.size() < kBulkHeader) return 0;
  const std::byte* in = head.data();
  const std::uint8_t flags = frame_flags(head);
  if (has_type(head, PacketType::pull_reply))
    return pull_reply::kEnd + load_be16(in + pull_reply::kFrameLength) + trailer_bytes(flags);
  if (head.size() < medium::kEnd || !has_type(head, PacketType::medium)) return 0;
  return medium::kEnd + ext_bytes(flags) + load_be16(in + medium::kFragLength) + trailer_bytes(flags);
}

std::size_t covered_length(Frame frame, Mode mode) {
  if (frame.size() < kType + 1) return 0;
  const PacketType type = type_of(frame);
  std::size_t covered = header_bytes(type, mode);
  if (covered == 0 || frame.size() < covered) return 0;
  const std::byte* in = frame.data();
  const std::uint8_t flags = frame_flags(frame);
  switch (type) {
    case PacketType::tiny:
    case PacketType::small: {
      const std::size_t length = load_be16(in + message::kLength);
      if (length > (type == PacketType::tiny ? kTinyMax : kSmallMax)) return 0;
      covered += ext_bytes(flags) + length;
      break;
    }
    case PacketType::pack:
      covered += load_be16(in + message::kLength);
      break;
    case PacketType::medium:
      covered += ext_bytes(flags) + load_be16(in + medium::kFragLength);
      break;
    case PacketType::rndv: {
      const std::size_t length = load_be16(in + message::kLength);
      if (length < rndv::kDataBytes) return 0;
      covered = rndv::kData + length + ext_bytes(flags);
      break;
    }
    case PacketType::pull_reply:
      covered += load_be16(in + pull_reply::kFrameLength);
      break;
    case PacketType::truc: {
      const std::size_t length = load8(in + truc::kLength);
      if (length < truc::kAckBytes) return 0;
      covered = truc::kData + length;
      break;
    }
    case PacketType::connect: {
      const std::size_t length = load8(in + connect::kLength);
      if (length < connect::kDataBytes) return 0;
      covered = connect::kData + length;
      break;
    }
    case PacketType::host_reply: {
      const std::size_t length = load8(in + host::kNameLength);
      if (length == 0 || length > kHostnameMax) return 0;
      covered += length;
      break;
    }
    case PacketType::raw:
      covered = frame.size();
      break;
    default:
      break;
  }
  return covered <= frame.size() ? covered : 0;
}

bool checksum_verify(Frame frame, Mode mode) {
  const std::size_t covered = covered_length(frame, mode);
  if (covered == 0) return false;
  if (!(frame_flags(frame) & kFlagChecksum)) return false;
  if (frame.size() < covered + kChecksumBytes) return false;
  const std::byte* in = frame.data();
  return load_be32(in + covered) == crc32c(0, in + kEthertypeAt, covered - kEthertypeAt);
}

}  // namespace omx::wire
