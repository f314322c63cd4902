// SPDX-License-Identifier: BSD-3-Clause
// Bytes, hosts and frames for the tests of the wire layer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/random.h"
#include "wire/codec.h"
#include "wire/frame_io.h"

namespace omx::wire::test {

using Bytes = std::vector<std::byte>;

inline constexpr NicId kNicA = 0x0060dd47c475;
inline constexpr NicId kNicB = 0x001b21aabbcc;
inline constexpr std::uint32_t kSessionA = 0x5a17c0de;
inline constexpr std::uint32_t kSessionB = 0x0badcafe;

inline Head head_to_a(PacketType type) {
  return {.dst = kNicA, .src = kNicB, .peer_index = 1, .type = type};
}
inline Head head_to_b(PacketType type) {
  return {.dst = kNicB, .src = kNicA, .peer_index = 7, .type = type};
}

inline Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  int digits = 0;
  unsigned value = 0;
  for (char c : hex) {
    if (c == ' ') continue;
    value = value << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    if (++digits % 2 == 0) bytes.push_back(static_cast<std::byte>(value & 0xff));
  }
  return bytes;
}

inline std::string to_hex(Frame bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i++) {
    const auto v = static_cast<unsigned>(bytes[i]);
    text += {kDigits[v >> 4], kDigits[v & 15], i % 16 == 15 ? '\n' : ' '};
  }
  return text;
}

inline Bytes from_text(std::string_view text) {
  Bytes bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

// Returns the header that `encode(out)` writes. The buffer is filled with garbage first, so a pad that is not
// written shows.
template <class Encode>
Bytes encoded(Encode&& encode) {
  Bytes out(kHeaderCapacity, std::byte{0xa5});
  const std::size_t size = encode(out.data());
  const auto clean = [](std::byte b) { return b == std::byte{0xa5}; };
  if (size > out.size() ||
      !std::ranges::all_of(out.begin() + static_cast<std::ptrdiff_t>(size), out.end(), clean)) {
    std::fprintf(stderr, "the encoder wrote beyond the length it returned\n");
    std::abort();
  }
  out.resize(size);
  return out;
}

// Returns what a link sends: header, data, the trailer if the flags ask for it, and zeros up to the Ethernet
// minimum.
inline Bytes whole_frame(Bytes header, Frame data = {}, std::uint8_t flags = 0) {
  Bytes frame = std::move(header);
  frame.insert(frame.end(), data.begin(), data.end());
  if (flags & kFlagChecksum) {
    const std::uint32_t crc = crc32c(0, frame.data() + 12, frame.size() - 12);
    frame.resize(frame.size() + kChecksumBytes);
    store_be32(frame.data() + frame.size() - kChecksumBytes, crc);
  }
  if (frame.size() < kMinFrame) frame.resize(kMinFrame);
  return frame;
}

inline Bytes random_bytes(Random& random, std::size_t size) {
  Bytes bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
  return bytes;
}

// Copies the first `size` bytes into an allocation of exactly that size, so that ASan sees any read behind
// it.
inline Bytes cut(Frame frame, std::size_t size) {
  return Bytes(frame.begin(), frame.begin() + size);
}

// Decodes the packet by its type byte. Returns bad_type for reserved and unknown types.
inline Drop decode_any(Frame frame, Mode mode, bool extended) {
  Head head;
  if (const Drop drop = decode_head(frame, head); drop != Drop::none) return drop;
  const std::byte* data = nullptr;
  switch (head.type) {
    case PacketType::raw: {
      NicId nic;
      std::uint32_t serial;
      return decode_discovery(frame, nic, serial);
    }
    case PacketType::host_query: {
      HostQuery packet;
      return decode_host_query(frame, packet);
    }
    case PacketType::host_reply: {
      HostReply packet;
      return decode_host_reply(frame, packet);
    }
    case PacketType::truc: {
      Truc packet;
      return decode_truc(frame, extended, packet);
    }
    case PacketType::connect: {
      Connect packet;
      return decode_connect(frame, packet);
    }
    case PacketType::tiny:
    case PacketType::small: {
      Eager packet;
      return decode_eager(frame, extended, packet, &data);
    }
    case PacketType::pack: {
      Pack packet;
      Frame records;
      Drop drop = decode_pack(frame, packet, records);
      PackRecord record;
      while (drop == Drop::none && !records.empty()) drop = decode_pack_record(records, record, &data);
      return drop;
    }
    case PacketType::medium: {
      Medium packet;
      return decode_medium(frame, mode, extended, packet, &data);
    }
    case PacketType::rndv: {
      Rndv packet;
      return decode_rndv(frame, extended, packet, &data);
    }
    case PacketType::pull: {
      Pull packet;
      return decode_pull(frame, mode, extended, packet);
    }
    case PacketType::pull_reply: {
      PullReply packet;
      return decode_pull_reply(frame, extended, packet, &data);
    }
    case PacketType::notify: {
      Notify packet;
      return decode_notify(frame, extended, packet);
    }
    case PacketType::nack_lib: {
      NackLib packet;
      return decode_nack_lib(frame, extended, packet);
    }
    case PacketType::nack_mcp: {
      NackMcp packet;
      return decode_nack_mcp(frame, extended, packet);
    }
    case PacketType::probe: {
      Probe packet;
      return decode_probe(frame, packet);
    }
    case PacketType::none:
      break;
  }
  return Drop::bad_type;
}

}  // namespace omx::wire::test
