// SPDX-License-Identifier: BSD-3-Clause
// Places in a frame that the kernel's programs read, from byte 0 of the Ethernet header
// (docs/reference/wire.md 3). Only the codec may include wire/layout.h; egress_program_test compares these
// places with packets that the codec encodes.
#pragma once

#include <cstdint>

namespace omx::broker {

inline constexpr std::uint32_t kSourceMacAt = 6;
inline constexpr std::uint32_t kEthertypeAt = 12;
inline constexpr std::uint32_t kTypeAt = 16;
// The source endpoint.
inline constexpr std::uint32_t kSourceAt = 18;           // of most packets
inline constexpr std::uint32_t kPullReplySourceAt = 14;  // high byte of the peer index, which no one reads
inline constexpr std::uint32_t kNackLibSourceAt = 17;
inline constexpr std::uint32_t kNackMcpSourceAt = 20;  // a pad of the legacy layout
inline constexpr std::uint32_t kShortestPacket = 32;   // NACK_LIB, NACK_MCP and PULL_REPLY without data

}  // namespace omx::broker
