// SPDX-License-Identifier: BSD-3-Clause
// What must hold whatever an attacker does. Each check aborts when it does not.
#pragma once

#include "tests/fuzz/engine/scene.h"

namespace omx::fuzz {

// Memory within the configured bounds, and the books of the pull schedule.
void check_bounds(Scene& scene);
// How many frames the victim may send because of one frame: see the comment in oracle.cc.
std::uint64_t answer_limit(protocol::State& s);
// How often it may want to be called within a millisecond.
std::uint64_t wake_limit(protocol::State& s);
// A frame to an attacker holds nothing that was meant for others.
void check_leak(const Bytes& frame);

}  // namespace omx::fuzz
