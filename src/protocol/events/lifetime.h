// SPDX-License-Identifier: BSD-3-Clause
// Opens and closes an engine.
#pragma once

namespace omx::protocol {

struct State;

void claimed_drop_all(State& s);
// Makes the peer that stands for the engine itself, and the windows of its pulls.
void engine_open(State& s);
// Ends all requests and frees all memory. Sends nothing any more.
void engine_close(State& s);

}  // namespace omx::protocol
