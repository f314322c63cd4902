// SPDX-License-Identifier: BSD-3-Clause
// What every received packet is checked for.
#pragma once

#include <cstdint>

#include "protocol/state/partner.h"
#include "protocol/state/state.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

void rx_drop(State& s, wire::Drop reason);  // counts why
// Whether the checksum of a frame is right where the peer agreed on them. Counts one that is not.
bool rx_checksum_ok(State& s, const Partner* p, wire::Frame frame);

// B2 of the endpoint packets.
inline std::uint8_t load_src_endpoint(wire::Frame frame) {
  return frame.size() > 18 ? static_cast<std::uint8_t>(frame[18]) : 0;
}

}  // namespace omx::protocol
