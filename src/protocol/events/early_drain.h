// SPDX-License-Identifier: BSD-3-Clause
// Packets that were kept early are processed when the hole before them is filled.
#pragma once

namespace omx::protocol {

struct Partner;
struct State;

void early_drain(State& s, Partner& p);

}  // namespace omx::protocol
