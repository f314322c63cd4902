// SPDX-License-Identifier: BSD-3-Clause
// The frames by which `omx check --hosts` tests a path: PROBE packets (docs/reference/wire.md) that carry a
// checksum of themselves. So every link takes them, and an endpoint that gets one by mistake drops it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "wire/packets.h"

namespace omx::tools {

enum class ProbeKind : std::uint8_t { echo = 1, data = 2, data_answered = 3 };

struct ProbeFrame {
  NicId to = 0, from = 0;
  std::uint8_t to_endpoint = 0, from_endpoint = 0;
  ProbeKind kind = ProbeKind::echo;
  bool is_reply = false;
  std::uint32_t token = 0;   // of the measurement
  std::uint32_t number = 0;  // of the frame, repeated in the reply
};

// Fills all of `out`, which has wire::kMinFrame bytes or more.
void probe_encode(const ProbeFrame& probe, std::span<std::byte> out);
// Returns nothing for frames of others, and for those that were damaged.
enum class ProbeDrop : std::uint8_t { none, foreign, damaged };
ProbeDrop probe_decode(wire::Frame frame, ProbeFrame& probe);

}  // namespace omx::tools
