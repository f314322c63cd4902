// SPDX-License-Identifier: BSD-3-Clause
// Parked messages (docs/reference/wire.md 19): what each side has asked for and agreed.
#pragma once

#include <cstdint>

#include "protocol/state/early_window.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Partner;
struct Request;
struct State;

// That one TRUC asks for: all that may be under way.
inline constexpr std::uint16_t kParkRange = kEarlyWindow;
// So many messages go as envelopes before the next one tries whether there is room again.
inline constexpr std::uint16_t kTrialFirst = 64, kTrialMost = 1024;

bool peer_reads_parked(const Partner& p);
bool sent_eagerly(const Request& r);
// Whether the next TRUC asks for envelopes; it does so now.
bool park_waits(const Partner& p);
void park_told(State& s, Partner& p);
// Asks for envelopes, as there was no room for the data of the next message.
void park_refused(State& s, Partner& p);
// Notes that a message which was to come as envelope is complete.
void park_taken_up(State& s, Partner& p, wire::PacketType type);
void park_forget(Partner& p);
// Gives a large send a region, of any page if its receiver knows pages. False: none is free.
bool park_region(State& s, Request& r);
// Whether a message goes as envelope because those before had to.
bool park_defers(const State& s, const Partner& p);
// Counts a message that has left, for the next trial without envelopes.
void park_counted(State& s, Partner& p, const Request& r);
// Notes that the receiver took a message with its data.
void park_taken(Partner& p);

}  // namespace omx::protocol
