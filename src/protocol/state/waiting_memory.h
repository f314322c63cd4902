// SPDX-License-Identifier: BSD-3-Clause
// Memory of messages that wait for their receives, here or with their sender.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct Room {
  // What the host gave beyond what the endpoint has for itself, for messages that came, and for copies of
  // those that were sent.
  std::size_t granted_in = 0, granted_out = 0;
  std::size_t envelopes = 0;     // messages that came without their data
  std::size_t parked_bytes = 0;  // copies of messages that were acknowledged and wait for their receives
  // Large sends that wait likewise, and whose user waits, too.
  std::uint32_t awaiting = 0;
  HeldUp held_up;
  std::uint8_t held_up_told = 0;  // bit: HeldUp::What
};

}  // namespace omx::protocol
