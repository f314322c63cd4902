// SPDX-License-Identifier: BSD-3-Clause
// Messages of an endpoint to itself, which take no packet and no number. The send completes when a receive
// matches (docs/spec/protocol.md 10.2).
#pragma once

namespace omx::protocol {

struct Request;
struct State;
struct Unexpected;

void self_send(State& s, Request& r);
// Delivers messages of this endpoint to itself that waited while delivery was suspended.
void self_pump(State& s);
void self_match(State& s, Request& receive, Unexpected& u);

}  // namespace omx::protocol
