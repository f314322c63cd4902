// SPDX-License-Identifier: BSD-3-Clause
// Numbered packets: sessions, acknowledgements, order (docs/spec/protocol.md 4). A message is matched only
// when all earlier messages of its peer are complete, so that completions keep the order too.
#pragma once

#include <cstdint>

#include "protocol/state/seqnum.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Numbered;
struct Peer;
struct State;

// Returns whether a packet names our session. Refuses the packet otherwise.
bool numbered_session_ok(State& s, const wire::Head& head, wire::Frame frame, std::uint32_t session,
                         Seqnum seqnum);
// Takes a decoded packet of our session: checks its sender and order, takes its acknowledgement, and delivers
// or refuses it. Returns true when packets in the reorder buffer may be next (reorder_drain()).
bool numbered_received(State& s, Peer* p, const wire::Head& head, wire::Frame frame, const Numbered& n);
// Decodes a frame and passes it to numbered_received(). Returns the peer whose packets in the reorder buffer
// may be next, or nullptr. `kept` means that the frame was in the reorder buffer and was checked before.
Peer* numbered_frame(State& s, const wire::Head& head, wire::Frame frame, bool kept);

}  // namespace omx::protocol
