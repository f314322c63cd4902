// SPDX-License-Identifier: BSD-3-Clause
// Numbers with legacy peers, which have no counter generations: what their answers show.
#pragma once

#include <cstdint>

#include "protocol/state/seqnum.h"

namespace omx::protocol {

struct Peer;

// Notes that the remote endpoint lives in that session and will take `start` as our first number.
void legacy_adopt(Peer& p, std::uint32_t session, Seqnum start);
// Returns whether the known instance, in `session`, gave us up and began a new count of our messages. Then it
// also counts its own messages again, from the number that our request announced.
bool legacy_began_again(const Peer& p, std::uint32_t session, Seqnum start);
// Returns whether the peer, in the session that we know, forgot our numbers. Either it gave us up, which
// shows in the session count (docs/spec/protocol.md 7, last [DO]). Or it wants a number that we have not used
// yet, because we took over an older announcement.
bool legacy_out_of_step(const Peer& p, Seqnum start);
// Returns whether a reply of the known instance, in `session`, shows that it still counts as we do.
bool legacy_in_step(Peer& p, std::uint32_t session, Seqnum start);

}  // namespace omx::protocol
