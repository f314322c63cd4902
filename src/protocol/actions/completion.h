// SPDX-License-Identifier: BSD-3-Clause
// How requests end. See request.h for the two lives of a request.
#pragma once

#include "protocol/types.h"

namespace omx::protocol {

struct State;

// The user may see the result now.
void request_user_done(State& s, Request& r, Status status);
// The protocol needs it no more; frees it if the user does not either.
void request_protocol_done(State& s, Request& r);
// Both at once.
void request_finish(State& s, Request& r, Status status);
void request_user_gone(State& s, Request& r);
// One that multi_take gave is done.
void multi_ended(State& s, Request& r);
// The posted one ends with that status when its running messages have ended.
void multi_end(State& s, Request& posted, Status status);
// All data are in place.
void receive_complete(State& s, Request& r);

}  // namespace omx::protocol
