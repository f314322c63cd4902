// SPDX-License-Identifier: BSD-3-Clause
#include "wire/lone.h"

#include "wire/layout.h"

namespace omx::wire {

using namespace layout;

namespace {

// Where the words begin.
constexpr std::size_t kSecond = 8, kThird = 16, kFourth = 24, kFifth = 32;
static_assert(kEthertypeAt == 12 && kPeerIndex == 14 && kType == kThird && kFlags == 19);
static_assert(message::kLength == 20 && message::kSeqnum == kFourth && message::kMatch == 28);
static_assert(message::kSession == 36 && message::kEnd == kLoneHeader);
static_assert(header_ext::kMessageClass == 0 && header_ext::kDataValid == 1 && header_ext::kData == 8);

}  // namespace

void encode_lone(std::byte* out, const Lone& packet) {
  store_be64(out, packet.dst << 16 | packet.src >> 32);
  store_be64(out + kSecond, packet.src << 32 | std::uint64_t{kEthertype} << 16 | packet.peer_index);
  const std::uint64_t ends = std::uint64_t{packet.dst_endpoint} << 48 | std::uint64_t{packet.src_endpoint}
                                                                            << 40;
  const auto type =
      static_cast<std::uint64_t>(packet.length <= kTinyMax ? PacketType::tiny : PacketType::small);
  store_be64(out + kThird,
             type << 56 | ends | std::uint64_t{packet.flags} << 32 | std::uint64_t{packet.length} << 16);
  const std::uint64_t numbers = std::uint64_t{packet.seqnum} << 48 | std::uint64_t{packet.piggyack} << 32;
  store_be64(out + kFourth, numbers | packet.match_info >> 32);
  store_be64(out + kFifth, packet.match_info << 32 | packet.session);
  if (!(packet.flags & kFlagHeaderExt)) return;
  const std::uint64_t valid = std::uint64_t{packet.ext.data_valid} << 48;
  store_be64(out + kLoneHeader, std::uint64_t{packet.ext.message_class} << 56 | valid);
  store_be64(out + kLoneHeader + header_ext::kData, packet.ext.data);
}

bool decode_lone(Frame frame, Lone& packet) {
  if (frame.size() < kLoneHeader) return false;
  const std::byte* in = frame.data();
  const std::uint64_t first = load_be64(in), second = load_be64(in + kSecond);
  const std::uint64_t third = load_be64(in + kThird), fourth = load_be64(in + kFourth);
  const std::uint64_t fifth = load_be64(in + kFifth);
  const auto type = static_cast<PacketType>(third >> 56);
  const std::uint32_t most = type == PacketType::tiny ? kTinyMax : type == PacketType::small ? kSmallMax : 0;
  if (most == 0 || static_cast<std::uint16_t>(second >> 16) != kEthertype) return false;
  packet.type = type;
  packet.dst = first >> 16;
  packet.src = (first & 0xFFFF) << 32 | second >> 32;
  packet.peer_index = static_cast<std::uint16_t>(second);
  packet.dst_endpoint = static_cast<std::uint8_t>(third >> 48);
  packet.src_endpoint = static_cast<std::uint8_t>(third >> 40);
  packet.flags = static_cast<std::uint8_t>(third >> 32);
  packet.length = static_cast<std::uint16_t>(third >> 16);
  packet.seqnum = static_cast<std::uint16_t>(fourth >> 48);
  packet.piggyack = static_cast<std::uint16_t>(fourth >> 32);
  packet.match_info = fourth << 32 | fifth >> 32;
  packet.session = static_cast<std::uint32_t>(fifth);
  if ((packet.flags & kFlagChecksum) || packet.length > most ||
      frame.size() < lone_header(packet.flags) + packet.length)
    return false;
  if (packet.flags & kFlagHeaderExt) {
    packet.ext = {load8(in + kLoneHeader + header_ext::kMessageClass),
                  load8(in + kLoneHeader + header_ext::kDataValid),
                  load_be64(in + kLoneHeader + header_ext::kData)};
  }
  return true;
}

}  // namespace omx::wire
