// SPDX-License-Identifier: BSD-3-Clause
// Predicts which replies come next. A sender answers in the order of the requests, and few frames are lost.
// So a link can be told where the data of the next frames belong before they are read
// (docs/decisions/0005-receive-into-place.md). A wrong guess costs a copy: data in a wrong place lie where
// other data are missing, and are moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/types.h"
#include "wire/codec.h"

namespace omx::protocol {

struct Pull;
struct State;

// Notes which replies were asked for by a board.
void pull_expect(State& s, const Pull& pull, std::uint32_t first, std::uint32_t frames, bool again,
                 std::uint8_t rail);
void pull_expected_came(State& s, const Pull& pull, std::uint32_t index, std::uint8_t rail);
std::size_t pulls_expected(State& s, std::span<ExpectedFrame> out, unsigned rail);
bool pull_reply_is(State& s, const ExpectedFrame& expected, wire::Frame frame);

}  // namespace omx::protocol
