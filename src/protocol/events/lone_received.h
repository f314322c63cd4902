// SPDX-License-Identifier: BSD-3-Clause
// Receives a short message when nothing stands in its way: it is the next one of its peer, its receive is
// posted, and no other message is arriving. It does what rx_frame() would do, in one function.
#pragma once

#include "wire/codec.h"

namespace omx::protocol {

struct State;

// Returns false if the frame is another one. Nothing has happened then.
bool lone_received(State& s, wire::Frame frame);

}  // namespace omx::protocol
