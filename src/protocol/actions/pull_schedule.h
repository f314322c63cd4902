// SPDX-License-Identifier: BSD-3-Clause
// Which pull may ask for how much, and when: all large messages that arrive at an endpoint share one budget
// of bytes asked for and not yet here (docs/pulls.md). Without it the senders of several messages overrun the
// last switch port together, and each loss makes them do it again.
#pragma once

#include <cstdint>

namespace omx::protocol {

struct Pull;
struct PullBlock;
struct State;

// Its first frames come without being asked for.
void pull_await_first(State& s, Pull& pull, std::uint32_t frames);
// All of a lone message can be asked for at once: where its answers ring a sleeper beside its end.
void pull_ring_midway(State& s, Pull& pull);
// It may have frames to ask for; pulls_ask() lets all ask whose turn it is.
void pull_want(State& s, Pull& pull);
void pulls_ask(State& s);
void pull_schedule_timer(State& s);
// Frames that were asked for after what is missing of it have come: asks for that again, at once or when it
// can no longer be late only.
void pull_passed(State& s, Pull& pull, PullBlock& block);
// Does so where that time has come.
void pull_passed_check(State& s, Pull& pull);

}  // namespace omx::protocol
