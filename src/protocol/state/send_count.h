// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "protocol/counters.h"
#include "protocol/state/peer.h"
#include "protocol/state/state.h"

namespace omx::protocol {

// Counts a message of the application to a peer.
inline void send_count(State& s, Peer& p, std::uint64_t length) {
  s.count(Counter::messages_sent)++;
  s.count(Counter::bytes_sent) += length;
  p.figures.messages_sent++;
  p.figures.bytes_sent += length;
  if (!p.inside_host()) return;
  s.count(Counter::messages_sent_local)++;
  s.count(Counter::bytes_sent_local) += length;
}

}  // namespace omx::protocol
