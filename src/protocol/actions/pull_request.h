// SPDX-License-Identifier: BSD-3-Clause
// Requests blocks of frames.
#pragma once

#include <cstdint>

#include "protocol/counters.h"

namespace omx::protocol {

struct Pull;
struct PullBlock;
struct State;

// Asks again for what a block lacks.
void pull_ask_again(State& s, Pull& pull, PullBlock& block, Counter reason);
// Asks for the next `frames` frames, as a block. pull_await() expects them without a request.
void pull_ask(State& s, Pull& pull, std::uint32_t frames, std::uint8_t rail);
void pull_await(State& s, Pull& pull, std::uint32_t frames);

}  // namespace omx::protocol
