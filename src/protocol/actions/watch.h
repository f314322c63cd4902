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
// Notes that the application probed for a message that such a receive would take. Returns how a receive would
// have ended since the last probe; pending: not at all.
Status watch_probe(State& s, const ReceiveOp& op);
// Connects to a peer that is known to have been there. It must not be connected yet, or waiters must name
// another instance than the connected one.
void watch_connect(State& s, Peer& p, TimeNs& next);
// Ends the waiters for the peer, except those for another instance than `session`.
void watch_fail(State& s, Peer& p, Status status, std::uint32_t session);
// Ends the waiters that must not reach this instance, now that a conversation with it is open.
void watch_opened(State& s, Peer& p);
// Ends the waiters that began before the connect request which instance `session` has answered, and that name
// another instance. That instance is gone, because it was there when the waiting began.
void watch_answered(State& s, Peer& p, const Request& connect, std::uint32_t session);
// Ends a connect request with that status. The waiters for the peer end, too, unless it may yet come.
void connect_fail(State& s, Peer& p, Request& r, Status status);
// Ends a connect request that was answered by the instance which it must not reach.
void connect_shunned(State& s, Peer& p, Request& r);

}  // namespace omx::protocol
