// SPDX-License-Identifier: BSD-3-Clause
// Checks that every received packet must pass.
#pragma once

#include <cstdint>

#include "protocol/state/peer.h"
#include "protocol/state/state.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

void rx_drop(State& s, wire::Drop reason);  // counts the reason
// Returns whether the checksum of a frame is right, if the peer agreed on checksums. Counts a wrong one.
bool rx_checksum_ok(State& s, const Peer* p, wire::Frame frame);

// Returns byte 2 of an endpoint packet, its source endpoint.
inline std::uint8_t load_src_endpoint(wire::Frame frame) {
  return frame.size() > 18 ? static_cast<std::uint8_t>(frame[18]) : 0;
}

}  // namespace omx::protocol
