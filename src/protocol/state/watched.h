// SPDX-License-Identifier: BSD-3-Clause
// Peers that the application waits for without having sent them anything.
#pragma once

#include "protocol/types.h"

namespace omx::protocol {

struct ProbeWatch;
struct State;

bool probe_watch_lapsed(const State& s, const ProbeWatch& watch);
bool probe_watch_covers(const State& s, const ProbeWatch& watch, const Peer& p);
// Returns whether a receive or probes wait for the peer.
bool watched(const State& s, const Peer& p);
// Returns until when probes wait for the peer if it stays silent; kNever: it is not probed for.
TimeNs probes_limit(const State& s, const Peer& p);

}  // namespace omx::protocol
