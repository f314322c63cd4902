// SPDX-License-Identifier: BSD-3-Clause
// Ends the conversation with a peer (docs/reference/contract.md, docs/spec/protocol.md 7).
#pragma once

#include "protocol/types.h"

namespace omx::protocol {

struct State;

// Ends the conversation: fails all that is pending with the peer and forgets its session
// (docs/spec/protocol.md 7). Later operations towards the peer fail with `status` until another conversation
// is opened.
void peer_cleanup(State& s, Peer& p, Cleanup why, Status status = Status::endpoint_unreachable);
// Gives up a peer whose frames became too small to repeat a pending medium message.
void peer_sizes_check(State& s, Peer& p);

}  // namespace omx::protocol
