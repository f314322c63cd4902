// SPDX-License-Identifier: BSD-3-Clause
// A frame arrived: which packet is it, and is it for us.
#pragma once

#include "wire/codec.h"

namespace omx::protocol {

struct State;

void rx_frame(State& s, wire::Frame frame);

}  // namespace omx::protocol
