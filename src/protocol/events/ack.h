// SPDX-License-Identifier: BSD-3-Clause
// Acknowledgements of what we sent (docs/spec/protocol.md 5).
#pragma once

#include "protocol/state/seqnum.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct State;

void ack_apply(State& s, Peer& p, Seqnum ack);
void ack_received(State& s, const wire::Head& head, wire::Frame frame);

}  // namespace omx::protocol
