// SPDX-License-Identifier: BSD-3-Clause
// Memory of messages that wait for their receives, here or at their sender.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct Room {
  // Memory that the host gave beyond the endpoint's own, for messages that came and for copies of sends.
  std::size_t granted_in = 0, granted_out = 0;
  std::size_t envelopes = 0;     // messages that came without their data
  std::size_t parked_bytes = 0;  // copies of messages that were acknowledged and wait for their receives
  // Acknowledged large sends that wait for their receives while their user waits, too.
  std::uint32_t awaiting = 0;
  HeldUp held_up;
  std::uint8_t held_up_told = 0;  // bits of HeldUp::What that were reported
};

}  // namespace omx::protocol
