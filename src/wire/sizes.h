// SPDX-License-Identifier: BSD-3-Clause
// Sizes that follow from mode and MTU (docs/spec/wire.md 5). A "frame" counts the Ethernet header and an
// interface's MTU does not, so a frame may be MTU + 14 bytes. The legacy library compares its frame size with
// the MTU. Its formulas hold in omx mode without an extension block, because both sides derive fragment
// offsets from them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "wire/packets.h"

namespace omx::wire {

// A structure of every peer, so it is small. A frame carries less than 64 KiB.
struct Sizes {
  std::uint16_t pull_reply_max = 0;  // M
  std::uint16_t medium_frag = 0;
  std::uint8_t pull_frames = 0;   // N, frames per block
  std::uint8_t medium_frags = 0;  // per message
  std::uint32_t medium_max() const { return std::uint32_t{medium_frag} * medium_frags; }
};

inline constexpr std::uint32_t kMxoeFrame = 16 + 32 + 4096;

// Returns the legacy library's sizes, for peers without an extension block. `mtu` is its "OMX MTU".
constexpr Sizes legacy_sizes(Mode mode, std::uint32_t mtu) {
  if (mode == Mode::mxoe) return {4096, 4096, 8, 8};
  const std::uint32_t room = mtu - 48;
  const std::uint32_t medium = room <= 4096 ? room : mtu >= 8240 ? 8192 : 4096;
  // Lengths travel in 16 bits, and 65535 - 32 still fits.
  const std::uint32_t reply = std::min<std::uint32_t>(mtu - 32, 65535 - 32);
  return {static_cast<std::uint16_t>(reply), static_cast<std::uint16_t>(medium), 32, 32};
}

// Returns the sizes between extended peers in omx mode: all that fits `frame` bytes (Ethernet header
// included) beside `overhead` bytes for header extension and checksum trailer.
constexpr Sizes extended_sizes(Mode mode, std::uint32_t frame, std::uint32_t overhead) {
  if (mode == Mode::mxoe) return {4096, 4096, 8, 8};
  const std::uint32_t usable = std::min<std::uint32_t>(frame, 65535 + 14) - overhead;
  // Multiples of 8 keep copies aligned. Multiples of 32 are faster where GSO batches are long.
  const std::uint32_t reply = (usable - 32) & ~31U, medium = (usable - 48) & ~7U;
  return {static_cast<std::uint16_t>(reply), static_cast<std::uint16_t>(medium), 32, 32};
}

}  // namespace omx::wire
