// SPDX-License-Identifier: BSD-3-Clause
// Ends requests. See request.h for the two lives of a request.
#pragma once

#include "protocol/types.h"

namespace omx::protocol {

struct State;

// Lets the user see the result of a request.
void request_user_done(State& s, Request& r, Status status);
// Notes that the protocol no longer needs a request. Frees it if the user does not need it either.
void request_protocol_done(State& s, Request& r);
// Ends a request for the user and for the protocol.
void request_finish(State& s, Request& r, Status status);
void request_user_gone(State& s, Request& r);
// Notes that a request from multi_receive_take() is done.
void multi_receive_ended(State& s, Request& r);
// Ends a multi-receive buffer with that status, as soon as its running messages have ended.
void multi_receive_end(State& s, Request& posted, Status status);
// Ends a receive whose data are all in place.
void receive_complete(State& s, Request& r);

}  // namespace omx::protocol
