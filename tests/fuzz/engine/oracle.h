// SPDX-License-Identifier: BSD-3-Clause
// The conditions that hold whatever an attacker does. Each check aborts if its condition does not hold.
#pragma once

#include "tests/fuzz/engine/scene.h"

namespace omx::fuzz {

// Checks that memory is within the configured bounds, and the accounts of the pull schedule.
void check_bounds(Scene& scene);
// Returns how many frames the victim may send because of one frame. See the comment in oracle.cc.
std::uint64_t answer_limit(protocol::State& s);
// Returns how often the engine may ask to be called within a millisecond.
std::uint64_t wake_limit(protocol::State& s);
// Checks that a frame to an attacker contains no data for others.
void check_leak(const Bytes& frame);

}  // namespace omx::fuzz
