// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "protocol/state/peer.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

// Returns whether the peer was heard within a second. Such a peer is taken to be there.
inline bool heard_lately(const State& s, const Peer& p) {
  return s.now - p.liveness.last_heard <= 1'000 * kMillisecond;
}

}  // namespace omx::protocol
