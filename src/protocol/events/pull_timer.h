// SPDX-License-Identifier: BSD-3-Clause
// The timer of a pull: asks again, and gives up.
#pragma once

namespace omx::protocol {

struct Pull;
struct State;

void pull_timer(State& s, Pull& pull);

}  // namespace omx::protocol
