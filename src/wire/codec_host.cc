// SPDX-License-Identifier: BSD-3-Clause
// HOST_QUERY, HOST_REPLY and the discovery broadcast: packets between hosts rather than endpoints.
#include "wire/codec_host.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "wire/layout.h"

namespace omx::wire {

using namespace layout;

namespace {

void put_host(std::byte* out, const Head& head, std::uint32_t type_and_length, std::uint16_t peer_index,
              std::uint32_t magic) {
  put_head(out, head);
  store_be32(out + kType, type_and_length << 16 | peer_index);
  store_be32(out + 20, 0);
  store_be32(out + host::kMagic, magic);
  store_be32(out + 28, 0);
}

}  // namespace

std::size_t encode_host_query(std::byte* out, const Head& head, const HostQuery& packet) {
  const auto type = static_cast<std::uint32_t>(PacketType::host_query);
  put_host(out, head, type << 8, packet.src_dst_peer_index, packet.magic);
  return host::kEnd;
}

Drop decode_host_query(Frame frame, HostQuery& packet) {
  if (frame.size() < host::kEnd) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::host_query)) return Drop::bad_type;
  packet.src_dst_peer_index = load_be16(frame.data() + host::kSrcDstPeerIndex);
  packet.magic = load_be32(frame.data() + host::kMagic);
  return Drop::none;
}

std::size_t encode_host_reply(std::byte* out, const Head& head, const HostReply& packet) {
  assert(packet.name_length >= 1 && packet.name_length <= kHostnameMax);
  assert(packet.name[packet.name_length - 1] == '\0');
  const auto type = static_cast<std::uint32_t>(PacketType::host_reply);
  put_host(out, head, type << 8 | packet.name_length, packet.src_dst_peer_index, packet.magic);
  std::memcpy(out + host::kEnd, packet.name, packet.name_length);
  return host::kEnd + packet.name_length;
}

Drop decode_host_reply(Frame frame, HostReply& packet) {
  if (frame.size() < host::kEnd) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::host_reply)) return Drop::bad_type;
  const std::byte* in = frame.data();
  packet.name_length = load8(in + host::kNameLength);
  if (packet.name_length == 0 || packet.name_length > kHostnameMax) return Drop::bad_length;
  if (frame.size() < host::kEnd + packet.name_length) return Drop::truncated;
  packet.name = reinterpret_cast<const char*>(in + host::kEnd);
  if (packet.name[packet.name_length - 1] != '\0') return Drop::bad_length;
  packet.src_dst_peer_index = load_be16(in + host::kSrcDstPeerIndex);
  packet.magic = load_be32(in + host::kMagic);
  return Drop::none;
}

std::size_t encode_discovery(std::byte* out, NicId self, std::uint32_t serial) {
  std::memset(out, 0, discovery::kFrame);
  put_head(out, Head{.dst = kBroadcastNic, .src = self, .peer_index = 0, .type = PacketType::raw});
  store8(out + kType, static_cast<std::uint8_t>(PacketType::raw));
  store_be64(out + discovery::kNic, self);
  store_be32(out + discovery::kSerial, serial);
  return discovery::kFrame;
}

Drop decode_discovery(Frame frame, NicId& nic, std::uint32_t& serial) {
  if (frame.size() < discovery::kEnd) return Drop::frame_too_short;
  if (!has_type(frame, PacketType::raw)) return Drop::bad_type;
  const std::byte* in = frame.data();
  // RAW bodies have no type of their own. Discovery is told by zeros up to the NIC id and by an id of 48
  // bits.
  const auto filler = frame.subspan(kType + 1, discovery::kNic - kType - 1);
  if (std::ranges::any_of(filler, [](std::byte b) { return b != std::byte{0}; })) return Drop::bad_type;
  const NicId id = load_be64(in + discovery::kNic);
  if (id == 0 || id > kBroadcastNic) return Drop::bad_type;
  nic = id;
  serial = load_be32(in + discovery::kSerial);
  return Drop::none;
}

}  // namespace omx::wire
