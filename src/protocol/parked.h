// SPDX-License-Identifier: BSD-3-Clause
// Messages that wait for their receives: how much memory they may take (room.cc), and whose data stay with
// the sender because there is none (parked.cc, docs/reference/wire.md 19).
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/memory_share.h"
#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Partner;
struct Request;
struct State;

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

// --- room.cc -----------------------------------------------------------------------------------------------
// For the data of a message from that partner, or for its envelope alone; for a frame that came early.
bool room_for(State& s, const Partner& p, std::size_t bytes);
bool room_for_envelope(const State& s, const Partner& p);
bool room_for_early(State& s, std::size_t bytes);
// Some is free again.
void room_left(State& s);
// The memory for a copy of what is sent; nullptr: none.
std::byte* room_for_copy(State& s, std::size_t bytes);
void room_left_by_copy(State& s);
// The engine ends.
void room_return(State& s);
// To be told the user once.
void held_up_note(State& s, Partner& p, HeldUp::What what, std::uint64_t bound);

// --- parked.cc: messages whose data stay with the sender ---------------------------------------------------
// Of numbered packets: whether it brings the data of its message.
inline bool carries_data(wire::PacketType type) {
  return type != wire::PacketType::rndv && type != wire::PacketType::notify;
}
// Whether the next TRUC asks for envelopes; it does so now.
bool park_waits(const Partner& p);
void park_told(State& s, Partner& p);
// There was no room for the data of the message that is next.
void park_refused(State& s, Partner& p);
// One of those that come as envelopes is complete.
void park_taken_up(State& s, Partner& p, wire::PacketType type);
void park_forget(Partner& p);
// A region for a large send, of any page if its receiver knows pages.
bool park_region(State& s, Request& r);
// Whether a message goes as envelope because those before had to.
bool park_defers(const State& s, const Partner& p);
// It has left.
void park_counted(State& s, Partner& p, const Request& r);
// One was taken with its data.
void park_taken(Partner& p);
// Makes a copy of a parked message, from which its data are pulled, if there is memory.
void park_copy(State& s, Request& r);
// The partner asks for envelopes, from the message on that it misses.
void park_unacked(State& s, Partner& p);
// It was acknowledged, and waits for its receive.
void park_waiting(State& s, Request& r);

}  // namespace omx::protocol
