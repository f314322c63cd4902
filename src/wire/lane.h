// SPDX-License-Identifier: BSD-3-Clause
// Where an endpoint takes large and medium messages as UDP datagrams (docs/wire.md 15), of which the kernel
// carries many at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace omx::wire {

// What one datagram holds, and so what a sender may give the kernel at once: a train of frames of one size,
// of which the last may be shorter.
inline constexpr std::size_t kTrainBytes = 65507;
inline constexpr std::uint32_t kTrainFrames = 64;

inline std::uint32_t frames_of_train(std::uint32_t frame) {
  return std::min<std::uint32_t>(kTrainFrames, static_cast<std::uint32_t>(kTrainBytes / frame));
}

// In the announcement of an answer to a pull: which, by the pull's handle and its last frame, counted from 1
// so that it is not 0.
inline constexpr std::uint32_t kLaneAnswerFrame = 0x3FFFFF;
inline std::uint32_t lane_answer(std::uint32_t handle, std::uint32_t last_frame) {
  return (handle & ~kLaneAnswerFrame) | ((last_frame + 1) & kLaneAnswerFrame);
}

// Before which of its frames such an answer is announced: at the beginning of a train, so long before the end
// as a sleeper takes to wake (some tens of microseconds). What is missing then it waits for at the lane.
inline std::uint32_t lane_announced_before(std::uint32_t frames, std::uint32_t train, std::uint32_t unit) {
  constexpr std::uint32_t kLead = 160 * 1024;
  const std::uint32_t least = std::min((kLead + unit - 1) / unit, frames);
  return (frames - least) / train * train;
}

// Into fragments of how many bytes a message is cut of which all but the last go by trains. The last, which
// announces them, is as short as may be: it takes the longer way. `most`: of a fragment; `overhead`: of its
// frame.
inline std::uint32_t train_unit(std::uint32_t length, std::uint32_t most, std::uint32_t overhead) {
  constexpr std::uint32_t kAligned = 64;
  if (length <= most) return most;
  const std::uint32_t frames = (length - 2) / most + 1;
  const auto leaves = [&](std::uint32_t unit) { return length - frames * unit; };
  std::uint32_t unit = (length - 1) / frames;
  const auto whole = static_cast<std::uint32_t>(kTrainBytes) / frames;
  // What is over by less than a fragment does not take a train of its own.
  if (frames <= kTrainFrames && whole > overhead && unit > whole - overhead &&
      leaves(whole - overhead) <= whole - overhead)
    unit = whole - overhead;
  const std::uint32_t aligned = unit / kAligned * kAligned;
  return aligned > 0 && leaves(aligned) <= aligned ? aligned : unit;
}

struct LaneAddress {
  std::array<std::uint8_t, 16> ip{};  // IPv6, or IPv4 as ::ffff:a.b.c.d
  std::uint16_t port = 0;             // 0: none
  std::uint16_t frame = 0;            // the largest frame, Ethernet header included, that fits a datagram
  bool present() const { return port != 0 && frame != 0; }
  bool operator==(const LaneAddress&) const = default;
};

// Whether the first `bits` bits of both addresses agree: one network, so that no router is in between.
inline bool lane_same_network(const LaneAddress& a, const LaneAddress& b, unsigned bits) {
  for (std::size_t i = 0; i < a.ip.size() && bits > 0; i++) {
    const unsigned n = std::min(bits, 8U);
    if ((a.ip[i] ^ b.ip[i]) >> (8 - n)) return false;
    bits -= n;
  }
  return true;
}

}  // namespace omx::wire
