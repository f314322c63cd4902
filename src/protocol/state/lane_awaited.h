// SPDX-License-Identifier: BSD-3-Clause
// What peers announced by a bulk path (UDP lane) and has not come yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "protocol/state/seqnum.h"
#include "protocol/types.h"

namespace omx::protocol {

struct State;

// Notes that the peer announced pull replies, or that message, or that answer.
void lane_announced(State& s, Partner& p, std::optional<Seqnum> message, std::uint32_t answer = 0);
bool lane_awaited(State& s, TimeNs now);
// Says where the fragments of the message belong that comes by the bulk path next, if that is known.
std::size_t medium_expected(State& s, std::span<ExpectedFrame> out);
// Notes that a look at the bulk path found something.
void lane_came(State& s);

}  // namespace omx::protocol
