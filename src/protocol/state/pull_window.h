// SPDX-License-Identifier: BSD-3-Clause
// Bounds what running pulls have in flight, by board, from windows, round trips, rates and losses.
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
// Returns how long a sender that does not answer keeps its share of the window. That is long before its
// distance is known, because it may be far.
TimeNs pull_share_kept(const State& s, const Peer& p);
// Returns how soon the first of all senders may have to give its share back.
TimeNs pull_share_kept_least(const State& s);
// Returns the nanoseconds until `bytes` more have come by the port, as far as that is known.
std::uint64_t pull_time_of(const PullPort& port, std::uint64_t rate, std::uint64_t bytes);
// Returns whether a pull is asked for by several boards.
bool pull_striped(const Pull& pull);
// Returns the bytes that may be in flight now. A lone sender is asked for far more than the path holds when
// that saves us from waking up for the rest. Early data wait in front of the sender's own link.
std::uint32_t pull_allowed(State& s, unsigned rail = 0);
std::uint32_t pull_bulk_allowed(State& s);
// Notes that a turn asks for bytes. If the window is smaller than a frame, the next request waits for as many
// round trips as there are windows in them.
void pull_paced(State& s, const Pull& pull, std::uint32_t bytes, unsigned rail);
// Returns when pulls that wait for the window or for their time are to be looked at again.
TimeNs pull_next_look(const State& s);
// Returns how many blocks a pull may have in flight; there are more on a long path.
std::uint32_t pull_blocks(const State& s);
void pulls_init(State& s);
// Counts a pull as running, as it has got a handle. pull_leave() ends that.
void pull_enter(State& s, Pull& pull);
// Counts a large pull by frames from another host for the pace.
void pull_pace_begin(State& s, Pull& pull);
void pull_leave(State& s, Pull& pull);
void pull_arrived(State& s, Pull& pull, PullBlock& block, std::uint32_t bytes);
// Counts the missing frames of a pull as in flight again, because they are asked for again.
void pull_repeated(State& s, Pull& pull);
// Notes a loss. If more than the window was in flight, a sleeper stays within the window for a while.
void pull_ahead_lost(State& s, const PullBlock& block);
// Notes that a queue on the path marked an answer (ECN). Marks count as losses do, once for each window.
void pull_marked(State& s, Pull& pull, const PullBlock& block);
void pull_lost(State& s, const Pull& pull, const PullBlock& block);
// Returns how long a first answer may take.
TimeNs pull_patience(const State& s, const Peer& p);

}  // namespace omx::protocol
