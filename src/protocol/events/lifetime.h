// SPDX-License-Identifier: BSD-3-Clause
// The begin and the end of an engine.
#pragma once

namespace omx::protocol {

struct State;

void claimed_drop_all(State& s);
// Makes what an engine has from its beginning: the peer that it is itself, the windows of its pulls.
void engine_open(State& s);
// Ends all requests and frees all that is held. Nothing leaves any more.
void engine_close(State& s);

}  // namespace omx::protocol
