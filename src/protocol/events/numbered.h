// SPDX-License-Identifier: BSD-3-Clause
// Numbered packets: sessions, acknowledgement part, order (protocol.md 4). A message is matched only when all
// earlier ones of its peer are complete, so that completions keep the order too.
#pragma once

#include <cstdint>

#include "protocol/state/seqnum.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Numbered;
struct Partner;
struct State;

bool numbered_session_ok(State& s, const wire::Head& head, wire::Frame frame, std::uint32_t session,
                         Seqnum seqnum);
void numbered_received(State& s, Partner* p, const wire::Head& head, wire::Frame frame, const Numbered& n,
                       bool from_early);

}  // namespace omx::protocol
