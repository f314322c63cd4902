// SPDX-License-Identifier: BSD-3-Clause
// CONNECT packets of legacy peers (docs/spec/protocol.md 3, 7).
#pragma once

#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct Request;
struct State;

// Takes a CONNECT request of a legacy peer.
void legacy_request(State& s, Peer& p, const wire::Connect& packet);
// Takes a CONNECT reply of a legacy peer. `r` is nullptr if the reply answers a ping. Returns false when the
// numbers changed meanwhile, so the ping is repeated.
bool legacy_reply(State& s, Peer& p, const Request* r, const wire::Connect& packet);
// Makes our session known to a peer that has connected to us, but not we to it.
void legacy_connect_back(State& s, Peer& p);

}  // namespace omx::protocol
