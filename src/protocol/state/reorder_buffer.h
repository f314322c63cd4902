// SPDX-License-Identifier: BSD-3-Clause
// The reorder buffer: messages that arrived before one with a lower number. It exists only while a peer has a
// hole.
#pragma once

#include <array>
#include <cstdint>

namespace omx::protocol {

inline constexpr std::uint32_t kReorderNumbers =
    255;  // numbers ahead that are kept (docs/spec/protocol.md 4)

// A frame that arrived too early.
struct ReorderFrame {
  ReorderFrame* next = nullptr;
  std::uint32_t length = 0;  // of the frame, which follows this header
};

struct ReorderSlot {
  std::uint64_t mask = 0;       // fragments held
  std::uint32_t fragments = 0;  // of the message, as it was divided when they came
  ReorderFrame* frames = nullptr;
  bool complete = false;
};

struct ReorderBuffer {
  std::array<ReorderSlot, 256> slots;  // by number modulo 256
  std::uint32_t frames = 0;
};

}  // namespace omx::protocol
