// SPDX-License-Identifier: BSD-3-Clause
// How much memory messages may take that wait for their receives, here or with their sender: some that the
// endpoint has for itself, and more of what the host has for all endpoints (memory_share.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct State;

// For the data of a message from that partner, or for its envelope alone; for a frame that came early.
bool room_for(State& s, const Partner& p, std::size_t bytes);
bool room_for_envelope(const State& s, const Partner& p);
bool room_for_early(State& s, std::size_t bytes);
// Gives back shared memory, as some is free again.
void room_left(State& s);
// Returns the memory for a copy of what is sent; nullptr: none.
std::byte* room_for_copy(State& s, std::size_t bytes);
void room_left_by_copy(State& s);
// Gives back all shared memory at the end of the engine.
void room_return(State& s);
// Notes a bound that kept something waiting, to be reported to the user once.
void held_up_note(State& s, Partner& p, HeldUp::What what, std::uint64_t bound);

}  // namespace omx::protocol
