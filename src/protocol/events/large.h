// SPDX-License-Identifier: BSD-3-Clause
// The receiver of a large message is done with it.
#pragma once

#include "wire/packets.h"

namespace omx::protocol {

struct Partner;
struct State;

// Ends a large send whose receiver is done with it.
void large_notified(State& s, Partner& p, const wire::Notify& packet);

}  // namespace omx::protocol
