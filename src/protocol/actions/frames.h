// SPDX-License-Identifier: BSD-3-Clause
// Completes the bytes of outgoing frames.
#pragma once

#include <cstdint>

#include "protocol/state/peer.h"
#include "protocol/state/state.h"
#include "wire/frame_io.h"
#include "wire/packets.h"

namespace omx::protocol {

wire::Head rail_head(const State& s, const Peer& p, wire::PacketType type, unsigned rail);
wire::Head frame_head(const State& s, const Peer& p, wire::PacketType type);
std::uint8_t frame_flags(const Peer& p, bool urgent);
// Puts the checksum directly behind the header (frames whose length fields cover the header only).
void frame_finish_header(wire::TxFrame& frame);
// Ends a frame that was begun with room for one more segment: adds the checksum where agreed, and commits it.
void frame_finish(State& s, wire::TxFrame& frame, bool checksum);

// Sends what is queued before the caller of the engine does. This is the engine's only flush. It is for:
//  - an RNDV before its data that take the bulk path, and an announcement of data before those data;
//  - the frame of a burst, whose memory the next burst needs;
//  - a message whose copy, or the caller's other work, is done while the frame is on its way.
inline void frames_leave(State& s) {
  s.sink.flush();
}

// Begins a frame that leaves by the peer's home board.
inline wire::TxFrame& frame_begin(State& s, const Peer& p, std::uint32_t segments) {
  if (p.rails) [[unlikely]]
    return s.sink.rail_begin(p.rails->home, segments);
  return s.sink.frame_begin(segments);
}

}  // namespace omx::protocol
