// SPDX-License-Identifier: BSD-3-Clause
// Waiters for a peer: begins them, and ends them when the peer cannot answer any more.
#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct ReceiveOp;
struct State;

// A receive that names its source begins to wait.
void watch_receive(State& s, Request& r);
// The application probed for a message that such a receive would take. Not pending: it would have ended so
// since the last probe.
Status watch_probe(State& s, const ReceiveOp& op);
// Connects to the partner, if it is known to have been there, and is not connected or waiters name another
// instance than the one that is.
void watch_connect(State& s, Partner& p, TimeNs& next);
// Ends what waits for the partner, but not for another instance than `session`.
void watch_fail(State& s, Partner& p, Status status, std::uint32_t session);
// A conversation is open: ends what must not reach this instance any more.
void watch_opened(State& s, Partner& p);
// The instance `session` has answered the connect request: ends what waited before that and names another.
// The one that it names is gone, as it was there when the waiting began.
void watch_answered(State& s, Partner& p, const Request& connect, std::uint32_t session);
// The connect request has ended so. What waits for the partner ends, too, unless it may yet come.
void connect_fail(State& s, Partner& p, Request& r, Status status);
// The instance that the request shall not reach has answered it.
void connect_shunned(State& s, Partner& p, Request& r);

}  // namespace omx::protocol
