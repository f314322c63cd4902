// SPDX-License-Identifier: BSD-3-Clause
// The end of a large send.
#pragma once

#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct State;

// Ends a large send whose receiver has reported with a NOTIFY that it is done.
void large_notified(State& s, Peer& p, const wire::Notify& packet);

}  // namespace omx::protocol
