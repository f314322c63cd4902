// SPDX-License-Identifier: BSD-3-Clause
// Waiters for a peer: begins them, and ends them when the peer cannot answer any more.
#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct ReceiveOp;
struct State;

// Begins to wait for the source that a receive names.
void watch_receive(State& s, Request& r);
// Notes that the application probed for a message that such a receive would take. Returns how a receive
// would have ended since the last probe; pending: it would not.
Status watch_probe(State& s, const ReceiveOp& op);
// Connects to the partner, if it is known to have been there, and is not connected or waiters name another
// instance than the one that is.
void watch_connect(State& s, Partner& p, TimeNs& next);
// Ends what waits for the partner, but not for another instance than `session`.
void watch_fail(State& s, Partner& p, Status status, std::uint32_t session);
// Ends what must not reach this instance, now that a conversation with it is open.
void watch_opened(State& s, Partner& p);
// Ends what waited before the connect request that instance `session` has answered, and names another
// instance. That one is gone, as it was there when the waiting began.
void watch_answered(State& s, Partner& p, const Request& connect, std::uint32_t session);
// Ends a connect request with that status. What waits for the peer ends, too, unless it may yet come.
void connect_fail(State& s, Partner& p, Request& r, Status status);
// Ends a connect request that was answered by the instance which it shall not reach.
void connect_shunned(State& s, Partner& p, Request& r);

}  // namespace omx::protocol
