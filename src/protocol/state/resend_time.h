// SPDX-License-Identifier: BSD-3-Clause
// Computes when packets are sent again, and how long a peer may be silent.
#pragma once

#include "protocol/types.h"

namespace omx::protocol {

struct State;

// Returns when a message is sent again that later ones have passed (RequestTx::passed_at), or when the next
// fragment of its repetition leaves.
TimeNs passed_due(const State& s, const Request& r);
// Returns the time after which an answer is probably lost. peer_rto() is never shorter.
TimeNs answer_time(const State& s, const Peer& p);
TimeNs peer_rto(const State& s, const Peer& p);
// Returns how long a peer that does not run all the time may take to answer before it is given up. This is
// not longer than the time until the next repetition.
TimeNs time_to_answer(const State& s, const Peer& p);
// Returns a delay that is up to a quarter longer, and different for each pair. Peers that lost frames in the
// same overflow must not cause the next one together.
TimeNs peer_spread(const State& s, const Peer& p, TimeNs delay);
// Returns whether data that were sent to a peer are not lost, but have not been read yet (direct.h).
bool peer_reads_later(const State& s, const Peer& p);
// Returns since when the peer was silent while this request waited. A legacy peer may be heard and yet count
// differently than we do, and cannot say so. So with a legacy peer an unacknowledged number has its own
// limit, as in the reference (docs/spec/protocol.md 6). The same holds for a number that cannot be sent
// before the peer answers our CONNECT.
TimeNs request_silent_since(const Peer& p, const Request& r);
// Returns whether the fragments of the next repetition leave one by one. A burst into a queue that others
// keep full loses all but one or two of them, each time.
bool repetition_spread(const Request& r);
// Returns when the oldest message is sent again. The peer makes progress as long as it acknowledges others.
TimeNs resend_due(const State& s, const Peer& p, const Request& oldest);
// Returns the interval of pings to a silent peer that must answer within `patience`.
TimeNs ping_interval(const State& s, TimeNs patience);
TimeNs connect_delay(const State& s, const Request& r);

}  // namespace omx::protocol
