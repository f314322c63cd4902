// SPDX-License-Identifier: BSD-3-Clause
// Handles of running pulls.
#pragma once

#include <cstdint>

#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Partner;
struct Pull;
struct State;

// One partner takes no more handles than it leaves free: the pulls of others go on.
bool pull_slot_allowed(const State& s, const Partner& p);
bool pull_slot_acquire(State& s, Pull& pull);
void pull_slot_release(State& s, Pull& pull);
bool pull_waiting(const Pull& pull);
void pull_free(State& s, Pull& pull);
// In the place that a handle names, whosever turn it is there.
Pull* pull_of_slot(State& s, std::uint32_t handle);
// nullptr: not a running one.
Pull* pull_of_handle(State& s, std::uint32_t handle);
// Whose frame it is, of PULL_REPLY and NACK_MCP, where they name one that runs.
Pull* pull_of(State& s, const wire::Head& head, wire::Frame frame);

}  // namespace omx::protocol
