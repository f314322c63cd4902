// SPDX-License-Identifier: BSD-3-Clause
// How much the running pulls may have in flight, by board: windows, round trips, rates and losses.
#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct Pull;
struct PullBlock;
struct PullPort;
struct PullSchedule;
struct State;

inline constexpr TimeNs kRateTime = kMillisecond / 2, kRateKept = 200 * kMillisecond;

void pull_uncharge_all(State& s, Pull& pull);
void pull_charge(State& s, Pull& pull, std::uint32_t frames, unsigned rail);
// How long a sender that does not answer keeps its share of the window.
TimeNs pull_share_kept(const PullSchedule& schedule);
// How long until `bytes` more have come by it, as far as that is known; in nanoseconds.
std::uint64_t pull_time_of(const PullPort& port, std::uint64_t rate, std::uint64_t bytes);
// Whether a pull is asked for by several boards.
bool pull_striped(const Pull& pull);
// Bytes that may be in flight now. A lone sender is asked for far more than the way holds when that saves us
// from waking up for the rest: what is early waits in front of its own link.
std::uint32_t pull_allowed(State& s, unsigned rail = 0);
std::uint32_t pull_lane_allowed(State& s);
// Blocks that a pull may have in flight: more on a long way.
std::uint32_t pull_blocks(const State& s);
void pulls_init(State& s);
// A pull has got, and gives up, its handle.
void pull_enter(State& s, Pull& pull);
// Counts a large pull by frames of another host for the pace.
void pull_pace_begin(State& s, Pull& pull);
void pull_leave(State& s, Pull& pull);
void pull_arrived(State& s, Pull& pull, PullBlock& block, std::uint32_t bytes);
// Counts what a pull misses as in flight again, as it is asked for again.
void pull_repeated(State& s, Pull& pull);
// Notes that something was lost: a sleeper does not ask for more than the window for a while, if it did.
void pull_ahead_lost(State& s, const PullBlock& block);
void pull_lost(State& s, const Pull& pull, const PullBlock& block);
// How long a first answer may take.
TimeNs pull_patience(const State& s, const Partner& p);

}  // namespace omx::protocol
