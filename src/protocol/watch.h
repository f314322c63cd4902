// SPDX-License-Identifier: BSD-3-Clause
// Partners that the application waits for without having sent them anything: by a receive that names them, or
// by probing for their messages again and again. Whether they live is our business then.
#pragma once

#include "protocol/state.h"

namespace omx::protocol {

// A receive that names its source begins to wait.
void watch_receive(State& s, Request& r, bool reach);
// The application probed for a message from the partner. Not pending: no connection to it could be made since
// the last probe.
Status watch_probe(State& s, Partner& p, bool reach);
// Whether the partner is waited for, by either.
bool watched(const State& s, const Partner& p);
// Since when the partner's silence counts, of what it is watched for; kNever: it is not.
TimeNs watch_limit(const State& s, Partner& p);
// Connects to the partner, if it is known to have been there, and is not connected or receives name another
// instance than the one that is.
void watch_connect(State& s, Partner& p, TimeNs& next);
// The connect request has ended so. What waits for the partner ends, too, unless it may yet come.
void connect_fail(State& s, Partner& p, Request& r, Status status);
// Ends the receives that wait for the partner, but not those that name another instance than `session`, if
// that is known.
void watch_fail(State& s, Partner& p, Status status, std::uint32_t session);
// The instance `session` has answered the connect request: ends the receives that were posted before that and
// name another. The one that they name is gone, as it was there when they were posted.
void watch_answered(State& s, Partner& p, const Request& connect, std::uint32_t session);

}  // namespace omx::protocol
