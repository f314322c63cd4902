// SPDX-License-Identifier: BSD-3-Clause
// Messages to oneself: no packet, no number. The send completes when a receive matches
// (docs/spec/protocol.md 10.2).
#pragma once

namespace omx::protocol {

struct Request;
struct State;
struct Unexpected;

void self_send(State& s, Request& r);
// Delivers messages to oneself that waited while nothing was delivered.
void self_pump(State& s);
void self_match(State& s, Request& receive, Unexpected& u);

}  // namespace omx::protocol
