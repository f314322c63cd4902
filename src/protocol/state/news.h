// SPDX-License-Identifier: BSD-3-Clause
// Reports about peers for the owner of the engine: which peer is silent or back, which conversation has
// ended, and which messages it lost.
#pragma once

#include "protocol/state/peer.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

// A peer that owes us something is called silent after this time.
inline constexpr TimeNs kSilenceTold = 10'000 * kMillisecond;

// Notes that a silent peer is heard again. Any valid packet proves that a peer lives.
void news_back(State& s, Peer& p);
// Reports once that the peer is silent, if something has waited for it long enough. `next`: when to check
// again.
void news_silence_check(State& s, Peer& p, TimeNs& next);
// Reports that the conversation with the peer has just ended.
void news_ended(State& s, Peer& p, Cleanup why, Status status);
// Reports that receives or probes which waited for the peer have ended, because it could not be connected to.
void news_unreached(State& s, Peer& p, Status status);
// Reports that GSO batches to the peer do not arrive, while single frames do.
void news_no_batches(State& s, Peer& p);

inline void peer_heard(State& s, Peer& p) {
  if (p.liveness.silence_told) [[unlikely]]
    news_back(s, p);
  p.liveness.last_heard = s.now;
  p.liveness.pings_unanswered = 0;
}

}  // namespace omx::protocol
