// SPDX-License-Identifier: BSD-3-Clause
// What is done with running receives of large messages (pull.h), by the file it lives in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/counters.h"
#include "protocol/pull.h"
#include "protocol/types.h"
#include "wire/codec.h"

namespace omx::protocol {

struct State;

// --- pull_owner.cc, pull.cc, pull_reply.cc: the two ends ---------------------------------------------------
void pull_serve(State& s, const wire::Head& head, wire::Frame frame);
// `tail`: the last rndv.tail bytes, which need not be asked for.
void pull_start(State& s, Request& receive, const wire::Rndv& rndv, const std::byte* tail);
void pull_reply_received(State& s, const wire::Head& head, wire::Frame frame);
// The same, when the data are in their place already; only the header of the frame is there.
void pull_reply_placed(State& s, const wire::Head& head, wire::Frame frame);
// nullptr: not a running one.
Pull* pull_of_handle(State& s, std::uint32_t handle);
// In the place that a handle names, whosever turn it is there.
Pull* pull_of_slot(State& s, std::uint32_t handle);
// Whose frame it is, of PULL_REPLY and NACK_MCP, where they name one that runs.
Pull* pull_of(State& s, const wire::Head& head, wire::Frame frame);
// Asks again for what a block lacks.
void pull_ask_again(State& s, Pull& pull, PullBlock& block, Counter reason);
void pull_nacked(State& s, const wire::Head& head, wire::Frame frame);
void pull_timer(State& s, Pull& pull);
void pull_finish(State& s, Pull& pull, Status status);
void pulls_fail(State& s, Partner& p, Status status);
// Asks for the next `frames` frames, as a block; or they come unasked.
void pull_ask(State& s, Pull& pull, std::uint32_t frames, std::uint8_t rail);
void pull_await(State& s, Pull& pull, std::uint32_t frames);
// As if that had been asked for: of replies with `unit` data bytes, from the first.
void pull_answer(State& s, Partner& p, const Request& r, const wire::Pull& request, std::uint32_t unit);

// --- pull_copy.cc: copies that others make -----------------------------------------------------------------
// Puts data of a reply into their place, or has it done. `last`: they are the last of the message.
void pull_copy(State& s, Pull& pull, std::uint64_t offset, const std::byte* data, std::uint32_t length,
               bool last);
// Whether the pull that would end so has to wait for its copies. Changes the status when one is lost.
bool pull_waits_for_copies(State& s, Pull& pull, Status& status);
// Ends the pulls whose copies are over.
void pulls_copied(State& s);
// Gives back what those that are over held.
void copies_tend(State& s);

// --- pull_schedule.cc: what all pulls of the endpoint may ask for ------------------------------------------
void pulls_init(State& s);
// Blocks that a pull may have in flight: more on a long way.
std::uint32_t pull_blocks(const State& s);
// Whether it is asked for by several boards.
bool pull_striped(const Pull& pull);
// A pull has got, and gives up, its handle.
void pull_enter(State& s, Pull& pull);
void pull_leave(State& s, Pull& pull);
// It is a large one by frames of another host.
void pull_pace_begin(State& s, Pull& pull);
// Its first frames come without being asked for.
void pull_await_first(State& s, Pull& pull, std::uint32_t frames);
// All of a lone message can be asked for at once: where its answers ring a sleeper beside its end.
void pull_ring_midway(State& s, Pull& pull);
// It may have frames to ask for; pulls_ask() lets all ask whose turn it is.
void pull_want(State& s, Pull& pull);
void pulls_ask(State& s);
// Bytes that may be in flight now. A lone sender is asked for far more than the way holds when that saves us
// from waking up for the rest: what is early waits in front of its own link.
std::uint32_t pull_allowed(State& s, unsigned rail = 0);
void pull_arrived(State& s, Pull& pull, PullBlock& block, std::uint32_t bytes);
// What it misses is asked for again, and in flight again.
void pull_repeated(State& s, Pull& pull);
// Something of it was lost: a sleeper does not ask for more than the window for a while, if it did.
void pull_ahead_lost(State& s, const PullBlock& block);
void pull_lost(State& s, const Pull& pull, const PullBlock& block);
void pull_schedule_timer(State& s);
// How long a first answer may take.
TimeNs pull_patience(const State& s, const Partner& p);
// Frames that were asked for after what is missing of it have come: asks for that again, at once or when it
// can no longer be late only.
void pull_passed(State& s, Pull& pull, PullBlock& block);
// Does so where that time has come.
void pull_passed_check(State& s, Pull& pull);

// --- pull_expect.cc: which replies come next ---------------------------------------------------------------
// Of those that were asked for by a board, as the others' come in between.
void pull_expect(State& s, const Pull& pull, std::uint32_t first, std::uint32_t frames, bool again,
                 std::uint8_t rail);
void pull_expected_came(State& s, const Pull& pull, std::uint32_t index, std::uint8_t rail);
std::size_t pulls_expected(State& s, std::span<ExpectedFrame> out, unsigned rail);
bool pull_reply_is(State& s, const ExpectedFrame& expected, wire::Frame frame);

}  // namespace omx::protocol
