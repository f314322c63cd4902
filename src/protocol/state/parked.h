// SPDX-License-Identifier: BSD-3-Clause
// Parked messages (docs/reference/wire.md 19): what each side has asked for and agreed.
#pragma once

#include <cstdint>

#include "protocol/state/reorder_buffer.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct Request;
struct State;

// Messages that one TRUC asks for: all that may be under way.
inline constexpr std::uint16_t kParkRange = kReorderNumbers;
// How many messages go as envelopes before the next one tries whether there is room again.
inline constexpr std::uint16_t kTrialFirst = 64, kTrialMost = 1024;

bool peer_reads_parked(const Peer& p);
bool sent_eagerly(const Request& r);
// Returns whether the next TRUC asks for envelopes. park_told() notes that it does so now.
bool park_waits(const Peer& p);
void park_told(State& s, Peer& p);
// Asks for envelopes, because there was no room for the data of the next message.
void park_refused(State& s, Peer& p);
// Notes that a message which was to come as an envelope is complete.
void park_taken_up(State& s, Peer& p, wire::PacketType type);
void park_forget(Peer& p);
// Gives a large send a region, on any page if its receiver knows pages. Returns false when none is free.
bool park_region(State& s, Request& r);
// Returns whether a message goes as an envelope because those before it had to.
bool park_defers(const State& s, const Peer& p);
// Counts a message that has left, for the next trial without envelopes.
void park_counted(State& s, Peer& p, const Request& r);
// Notes that the receiver took a message with its data.
void park_taken(Peer& p);

}  // namespace omx::protocol
