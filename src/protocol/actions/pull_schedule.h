// SPDX-License-Identifier: BSD-3-Clause
// Which pull may ask for how much, and when: all large messages that arrive at an endpoint share one budget
// of bytes asked for and not yet here (docs/explanation/pulls.md). Without it the senders of several messages
// overrun the last switch port together, and each loss makes them do it again.
#pragma once

#include <cstdint>

namespace omx::protocol {

struct Pull;
struct PullBlock;
struct State;

// Expects the first frames of a pull without asking for them.
void pull_await_first(State& s, Pull& pull, std::uint32_t frames);
// Chooses where the answers to a lone message wake a sleeper before its end, if all of it can be asked for
// at once.
void pull_ring_midway(State& s, Pull& pull);
// Notes that a pull may have frames to ask for. pulls_ask() lets all pulls ask whose turn it is.
void pull_want(State& s, Pull& pull);
void pulls_ask(State& s);
void pull_schedule_timer(State& s);
// Notes that frames which were asked for later have come before what a block misses. Asks for that again, at
// once or when it can no longer be late only.
void pull_passed(State& s, Pull& pull, PullBlock& block);
// Asks again for what can no longer be late only.
void pull_passed_check(State& s, Pull& pull);

}  // namespace omx::protocol
