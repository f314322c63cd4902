// SPDX-License-Identifier: BSD-3-Clause
// Numbered packets: sessions, acknowledgement part, order (docs/spec/protocol.md 4). A message is matched
// only when all earlier ones of its peer are complete, so that completions keep the order too.
#pragma once

#include <cstdint>

#include "protocol/state/seqnum.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Numbered;
struct Partner;
struct State;

// Whether a packet names our session; refuses one that does not.
bool numbered_session_ok(State& s, const wire::Head& head, wire::Frame frame, std::uint32_t session,
                         Seqnum seqnum);
// Takes a decoded packet of our session: sender and count, acknowledgement, order, delivery, refusal. True:
// packets that came early may be next (early_drain()).
bool numbered_received(State& s, Partner* p, const wire::Head& head, wire::Frame frame, const Numbered& n);
// Decodes a frame, and does the same. Returns the peer whose early packets may be next; nullptr: nobody's.
// `kept`: the frame came early and was checked then.
Partner* numbered_frame(State& s, const wire::Head& head, wire::Frame frame, bool kept);

}  // namespace omx::protocol
