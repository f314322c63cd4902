// SPDX-License-Identifier: BSD-3-Clause
// Keeps paths between boards working: probes them, suspects them, and moves what was on its way by one to
// others (docs/rails.md).
#pragma once

#include <cstdint>

#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Pull;
struct PullBlock;
struct State;

void rails_home_set(State& s, Partner& p, std::uint8_t rail);
// Nothing comes by it, and another one works. What is on its way there is asked for by others.
void rails_suspect(State& s, Partner& p, std::uint8_t rail, TimeNs silent_since);
// Probes what is not known to work and is due.
void rails_tend(State& s, Partner& p);
// What left by the home path at `since` was not answered.
void rails_doubt(State& s, Partner& p, TimeNs since);
// Doubts the home path because `oldest`, which is sent again, was not answered.
void rails_doubt_of(State& s, Partner& p, const Request& oldest);
// What was asked for by a board did not come for long; asks for it by another.
void rails_late(State& s, Pull& pull, PullBlock& block);
// The interface of one of our boards lost its carrier, or has it again.
void rail_carrier(State& s, unsigned rail, bool up);
// Something came from it by `rx_rail`; `follows`: it believes that this is where we listen.
void rails_heard(State& s, Partner& p, bool follows);
void rails_agree(State& s, Partner& p, const wire::ConnectExt& ext);

}  // namespace omx::protocol
