// SPDX-License-Identifier: BSD-3-Clause
// TINY and SMALL without a checksum, as most short messages are: encoded and decoded in whole words. The
// packets are those of codec_message.h (docs/spec/wire.md 4.2).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/mac.h"
#include "wire/packets.h"

namespace omx::wire {

struct Lone {
  PacketType type = PacketType::none;  // as decoded; the length decides how it is encoded
  NicId dst = 0;
  NicId src = 0;
  std::uint16_t peer_index = kUnknownPeerIndex;
  std::uint8_t dst_endpoint = 0;
  std::uint8_t src_endpoint = 0;
  std::uint8_t flags = 0;
  std::uint16_t length = 0;
  std::uint16_t seqnum = 0;
  std::uint16_t piggyack = 0;
  std::uint64_t match_info = 0;
  std::uint32_t session = 0;
  HeaderExt ext;  // with kFlagHeaderExt
};
inline constexpr std::size_t kLoneHeader = 40;
inline constexpr std::size_t kLoneHeaderMost = kLoneHeader + kHeaderExtBytes;
inline constexpr std::size_t kLoneFrameMost = kLoneHeaderMost + kSmallMax;

// Returns how many bytes precede the data of a packet with these flags.
inline std::size_t lone_header(std::uint8_t flags) {
  return flags & kFlagHeaderExt ? kLoneHeaderMost : kLoneHeader;
}
// Writes the header. The data follow it.
void encode_lone(std::byte* out, const Lone& packet);
// Reads the header. Returns false if the frame is another one or not whole. The flags are those of an
// extended peer.
bool decode_lone(Frame frame, Lone& packet);

}  // namespace omx::wire
