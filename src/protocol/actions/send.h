// SPDX-License-Identifier: BSD-3-Clause
// The send queue of a peer. Messages leave it as window, credit and memory allow (docs/spec/protocol.md 8).
#pragma once

#include <cstdint>

namespace omx::protocol {

struct Peer;
struct Request;
struct State;

inline constexpr std::uint32_t kSendWindow = 8191;  // numbers outstanding (docs/spec/protocol.md 5.4)
inline constexpr std::uint32_t kLegacyEagerFrames = 250;

// Completes the send that waits for its copy.
void send_copy(State& s);
// Sends what window and resources allow of the peer's queue.
// `at_once`: nothing else is likely to leave with it.
void send_pump(State& s, Peer& p, bool at_once = false);
void send_queue_notify(State& s, Request& receive);

}  // namespace omx::protocol
