// SPDX-License-Identifier: BSD-3-Clause
// Message numbers: 14 bits of number and, above them, 2 bits of session count of the peer
// (docs/spec/wire.md 6.4).
#pragma once

#include <cstdint>

namespace omx::protocol {

using Seqnum = std::uint16_t;

inline constexpr Seqnum kSeqMask = 0x3FFF;
inline constexpr Seqnum kSeqSessionMask = 0xC000;
inline constexpr Seqnum kSeqFirst = 1;
inline constexpr std::uint32_t kSeqSpace = 0x4000;

constexpr Seqnum seq_session(Seqnum s) {
  return s & kSeqSessionMask;
}
constexpr Seqnum seq_number(Seqnum s) {
  return s & kSeqMask;
}
constexpr bool seq_same_session(Seqnum a, Seqnum b) {
  return seq_session(a) == seq_session(b);
}

// Adds n to a number, which wraps inside its 14 bits. The session bits stay.
constexpr Seqnum seq_add(Seqnum s, std::uint32_t n) {
  return static_cast<Seqnum>(seq_session(s) | ((seq_number(s) + n) & kSeqMask));
}

// Returns how many numbers a is ahead of b, modulo 2^14.
constexpr std::uint32_t seq_diff(Seqnum a, Seqnum b) {
  return static_cast<std::uint32_t>(a - b) & kSeqMask;
}

constexpr Seqnum seq_next_session(Seqnum s) {
  return static_cast<Seqnum>(seq_number(s) | (seq_session(s) + 0x4000));
}

}  // namespace omx::protocol
