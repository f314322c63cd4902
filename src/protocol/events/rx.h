// SPDX-License-Identifier: BSD-3-Clause
// Decodes an arriving frame and passes it on if it is for this endpoint.
#pragma once

#include "wire/codec.h"

namespace omx::protocol {

struct State;

void rx_frame(State& s, wire::Frame frame);

}  // namespace omx::protocol
