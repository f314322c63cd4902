// SPDX-License-Identifier: BSD-3-Clause
// Packets that arrived before one with a lower number. They are copied, and processed when the hole is
// filled.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/state/peer.h"
#include "protocol/state/reorder_buffer.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/state.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

std::size_t reorder_bytes(std::uint32_t length);
wire::Frame reorder_frame(const ReorderFrame& f);
void reorder_release(State& s, Peer& p);
bool reorder_store(State& s, Peer& p, Seqnum seqnum, wire::Frame frame, std::uint32_t fragment,
                   std::uint32_t fragments);
void reorder_drop_data(State& s, Peer& p);
void reorder_drop(State& s, Peer& p);

// Returns whether a numbered packet brings the data of its message.
inline bool carries_data(wire::PacketType type) {
  return type != wire::PacketType::rndv && type != wire::PacketType::notify;
}

}  // namespace omx::protocol
