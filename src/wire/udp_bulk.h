// SPDX-License-Identifier: BSD-3-Clause
// The bulk path: where an endpoint takes large and medium messages as UDP datagrams, of which the kernel
// carries many at once (docs/reference/wire.md 15).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace omx::wire {

// The most that one datagram holds, and so the largest GSO batch. All its frames have one size, but the last
// may be shorter.
inline constexpr std::size_t kGsoBatchBytes = 65507;
inline constexpr std::uint32_t kGsoBatchFrames = 64;

inline std::uint32_t gso_batch_frames(std::uint32_t frame) {
  return std::min<std::uint32_t>(kGsoBatchFrames, static_cast<std::uint32_t>(kGsoBatchBytes / frame));
}

// A GSO frame is a single frame that fills a GSO batch. Only its first datagram has a header, so it comes
// whole or not at all. Returns the data bytes of each frame when `length` bytes go in GSO frames of one size,
// with `header` bytes before the data and datagrams of `datagram` bytes. Returns 0 if one datagram holds them
// all.
inline std::uint32_t gso_frame_unit(std::uint64_t length, std::uint32_t header, std::uint32_t datagram) {
  constexpr std::uint64_t kAligned = 32;
  const auto batch = std::min<std::uint64_t>(kGsoBatchBytes, std::uint64_t{kGsoBatchFrames} * datagram);
  if (datagram <= header || length <= datagram - header) return 0;
  const std::uint64_t most = (batch - header) / kAligned * kAligned;
  const std::uint64_t frames = (length + most - 1) / most;
  return static_cast<std::uint32_t>(((length + frames - 1) / frames + kAligned - 1) / kAligned * kAligned);
}

// Returns the cookie that announces an answer to a pull. It names the pull's handle and the answer's last
// frame, counted from 1 so that the cookie is not 0.
inline constexpr std::uint32_t kBulkAnswerFrame = 0x3FFFFF;
inline std::uint32_t bulk_answer(std::uint32_t handle, std::uint32_t last_frame) {
  return (handle & ~kBulkAnswerFrame) | ((last_frame + 1) & kBulkAnswerFrame);
}

// Returns the frame before which the end of an answer is announced. That is the beginning of a GSO batch,
// early enough for a sleeping receiver to wake (some tens of microseconds). The receiver waits on the bulk
// path for frames that are still missing then.
inline std::uint32_t bulk_announced_before(std::uint32_t frames, std::uint32_t batch, std::uint32_t unit) {
  constexpr std::uint32_t kLead = 160 * 1024;
  const std::uint32_t least = std::min((kLead + unit - 1) / unit, frames);
  return (frames - least) / batch * batch;
}

// Returns the fragment size for a message in GSO batches. Where it is longer than a batch, the last fragment
// announces the others and takes the slower way, so it is made as short as possible. `most` is the
// largest fragment, `overhead` the bytes of its frame beside the data.
inline std::uint32_t gso_batch_unit(std::uint32_t length, std::uint32_t most, std::uint32_t overhead) {
  constexpr std::uint32_t kAligned = 64;
  if (length <= most) return most;
  const std::uint32_t frames = (length - 2) / most + 1;
  const auto leaves = [&](std::uint32_t unit) { return length - frames * unit; };
  std::uint32_t unit = (length - 1) / frames;
  const auto whole = static_cast<std::uint32_t>(kGsoBatchBytes) / frames;
  // A remainder shorter than a fragment does not get a GSO batch of its own.
  if (frames <= kGsoBatchFrames && whole > overhead && unit > whole - overhead &&
      leaves(whole - overhead) <= whole - overhead)
    unit = whole - overhead;
  const std::uint32_t aligned = unit / kAligned * kAligned;
  return aligned > 0 && leaves(aligned) <= aligned ? aligned : unit;
}

struct BulkAddress {
  std::array<std::uint8_t, 16> ip{};  // IPv6, or IPv4 as ::ffff:a.b.c.d
  std::uint16_t port = 0;             // 0: there is no bulk path
  std::uint16_t frame = 0;            // the largest frame, Ethernet header included, that fits a datagram
  bool present() const { return port != 0 && frame != 0; }
  bool operator==(const BulkAddress&) const = default;
};

// Returns whether the first `bits` bits of both addresses agree. Then they lie in one network, with no router
// between.
inline bool bulk_same_network(const BulkAddress& a, const BulkAddress& b, unsigned bits) {
  for (std::size_t i = 0; i < a.ip.size() && bits > 0; i++) {
    const unsigned n = std::min(bits, 8U);
    if ((a.ip[i] ^ b.ip[i]) >> (8 - n)) return false;
    bits -= n;
  }
  return true;
}

}  // namespace omx::wire
