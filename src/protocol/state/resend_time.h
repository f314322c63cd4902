// SPDX-License-Identifier: BSD-3-Clause
// When something is sent again, and how long a peer may be silent.
#pragma once

#include "protocol/types.h"

namespace omx::protocol {

struct State;

// When a message is sent again that later ones have passed (Request::passed_at).
TimeNs passed_due(const Request& r);
TimeNs partner_rto(const State& s, const Partner& p);
// Returns a delay that is up to a quarter longer, and different for each pair: peers that lost frames in the
// same overflow must not cause the next one together.
TimeNs partner_spread(const State& s, const Partner& p, TimeNs delay);
// Whether what was sent to a peer is not lost, but has not been read yet (direct.h).
bool partner_reads_later(const State& s, const Partner& p);
// Since when we have heard nothing while this request waited. A reference peer may be heard and yet count
// differently than we do, and cannot say so: there a number that is not acknowledged has its own limit, as in
// the reference (docs/spec/protocol.md 6). The same holds for one that cannot be sent before it answers our
// CONNECT.
TimeNs request_silent_since(const Partner& p, const Request& r);
// When the oldest message is sent again. The partner goes on as long as it acknowledges others.
TimeNs resend_due(const State& s, const Partner& p, const Request& oldest);
// How often a silent partner is pinged that must answer within `patience`.
TimeNs ping_interval(const State& s, TimeNs patience);
TimeNs connect_delay(const State& s, const Request& r);

}  // namespace omx::protocol
