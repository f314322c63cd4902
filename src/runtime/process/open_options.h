// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace omx::runtime {

inline constexpr std::uint32_t kAnyBoard = 0xFFFFFFFF;
inline constexpr std::uint32_t kAnyEndpoint = 0xFFFFFFFF;

// Which endpoint Process::open() opens.
struct OpenOptions {
  std::uint32_t board = kAnyBoard;
  std::uint32_t endpoint = kAnyEndpoint;
  std::uint32_t key = 0;
  std::uint32_t context_bits = 0, context_shift = 0;
  bool mx_order = true;  // messages of up to 32 KiB are in place before later ones complete, as MX promises
  bool all_boards = false;  // uses all boards together, whatever OMX_RAILS says
};

}  // namespace omx::runtime
