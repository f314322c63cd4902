// SPDX-License-Identifier: BSD-3-Clause
// Adopts what a CONNECT says about the abilities of a peer.
#pragma once

#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct State;

// Adopts the peer's abilities from a CONNECT. Values that the peer cannot mean are clamped.
void connect_agree(State& s, Peer& p, const wire::ConnectExt& ext);

}  // namespace omx::protocol
