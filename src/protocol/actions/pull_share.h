// SPDX-License-Identifier: BSD-3-Clause
// Shares the copying of a large message inside the host between both ends. The receiver asks for it by
// frames, which the sender copies into its ring while the receiver copies them out. That takes half the time
// or less of one copy by the kernel, which looks up each page. A sender that does something else copies
// nothing. When no frame has come for some microseconds, the receiver reads the sender's memory from the end.
// It goes on until both meet.
#pragma once

#include "wire/packets.h"

namespace omx::protocol {

struct Pull;
struct Request;
struct State;

// Begins a message, if it is worth a share. Returns false if it is not; nothing has happened then.
bool share_start(State& s, Request& receive, const wire::Rndv& rndv);
// Notes that the oldest message is worked on from now on.
void share_begin(State& s);
// Reads the next piece of the oldest message that is shared.
void share_step(State& s);
// Goes on after a frame has come.
void share_advance(State& s, Pull& pull);

}  // namespace omx::protocol
