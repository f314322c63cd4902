// SPDX-License-Identifier: BSD-3-Clause
// Processes the packets in the reorder buffer when the gap before them is filled.
#pragma once

namespace omx::protocol {

struct Peer;
struct State;

void reorder_drain(State& s, Peer& p);

}  // namespace omx::protocol
