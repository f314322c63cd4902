// SPDX-License-Identifier: BSD-3-Clause
// Schedules pulls: which pull may ask for how much, and when. All large messages that arrive at an endpoint
// share one budget of bytes that were asked for and have not come (docs/explanation/pulls.md). Without the
// budget, the senders of several messages overrun the last switch port together, and each loss makes them do
// it again.
#pragma once

#include <cstdint>

namespace omx::protocol {

struct Pull;
struct PullBlock;
struct State;

// Expects the first frames of a pull without asking for them.
void pull_await_first(State& s, Pull& pull, std::uint32_t frames);
// Chooses where the answers to a lone message wake a sleeper before its end, if all of the message can be
// asked for at once.
void pull_ring_midway(State& s, Pull& pull);
// Notes that a pull may have frames to ask for. pulls_ask() lets each pull ask whose turn it is.
void pull_want(State& s, Pull& pull);
void pulls_ask(State& s);
void pull_schedule_timer(State& s);
// Notes that frames of a later request have come before the frames that a block misses. Asks for those again,
// at once or when they can no longer be merely late.
void pull_passed(State& s, Pull& pull, PullBlock& block);
// Asks again for frames that can no longer be merely late.
void pull_passed_check(State& s, Pull& pull);

}  // namespace omx::protocol
