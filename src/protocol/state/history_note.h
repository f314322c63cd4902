// SPDX-License-Identifier: BSD-3-Clause
// Notes events for the analysis of a process that hangs (omx dump).
#pragma once

#include <cstdint>

#include "protocol/history.h"
#include "protocol/state/peer.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/state.h"

namespace omx::protocol {

// Notes an event, if a history is kept.
inline void history_note(State& s, Happened what, const Peer* p, std::uint64_t match_info = 0,
                         std::uint64_t length = 0, Seqnum seqnum = 0) {
  if (!s.config.history) return;
  s.config.history->add({s.now + s.absent, match_info, p ? p->nic : 0, static_cast<std::uint32_t>(length),
                         seqnum, p ? p->endpoint : std::uint8_t{0}, what});
}

}  // namespace omx::protocol
