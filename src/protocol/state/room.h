// SPDX-License-Identifier: BSD-3-Clause
// Room for messages that wait for their receives, here or at their sender. The endpoint has some memory for
// itself, and takes more from the host's share for all endpoints (memory_share.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct State;

// Returns whether there is room for the data of a message from that peer. room_for_envelope() asks for its
// envelope alone, and room_to_reorder() for a frame that came early.
bool room_for(State& s, const Peer& p, std::size_t bytes);
bool room_for_envelope(const State& s, const Peer& p);
bool room_to_reorder(State& s, std::size_t bytes);
// Gives back shared memory after some became free.
void room_left(State& s);
// Returns memory for a copy of a send, or nullptr.
std::byte* room_for_copy(State& s, std::size_t bytes);
void room_left_by_copy(State& s);
// Gives back all shared memory at the end of the engine.
void room_return(State& s);
// Notes a limit that kept something waiting, to be reported to the user once.
void held_up_note(State& s, Peer& p, HeldUp::What what, std::uint64_t bound);

}  // namespace omx::protocol
