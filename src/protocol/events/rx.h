// SPDX-License-Identifier: BSD-3-Clause
// A frame arrived: which packet is it, and is it for us.
#pragma once

#include "wire/codec.h"

namespace omx::protocol {

struct State;

void rx_frame(State& s, wire::Frame frame);
// One that came with others in a frame.
void share_receive(State& s, wire::Frame frame, wire::Frame packet);

}  // namespace omx::protocol
