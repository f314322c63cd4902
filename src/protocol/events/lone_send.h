// SPDX-License-Identifier: BSD-3-Clause
// Sends a short message when nothing stands in its way: no other message waits, the peer has room, and the
// message needs nothing that a TINY or SMALL lacks. It does what send_start() and send_pump() would do, in
// one function.
#pragma once

namespace omx::protocol {

struct Request;
struct SendOp;
struct State;

// Returns the request, or nullptr if the message is another one. Nothing has happened then.
Request* lone_send(State& s, const SendOp& op);

}  // namespace omx::protocol
