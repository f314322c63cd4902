// SPDX-License-Identifier: BSD-3-Clause
// Asks again for missing parts of a pull, and gives a pull up.
#pragma once

namespace omx::protocol {

struct Pull;
struct State;

void pull_timer(State& s, Pull& pull);

}  // namespace omx::protocol
