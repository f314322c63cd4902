// SPDX-License-Identifier: BSD-3-Clause
// Pulls and the handles of those that run.
#pragma once

#include <cstdint>

#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct Pull;
struct Request;
struct State;

// Returns whether a peer may have one more handle. It gets no more than it leaves free, so that the pulls of
// others go on.
bool pull_slot_allowed(const State& s, const Peer& p);
bool pull_slot_acquire(State& s, Pull& pull);
void pull_slot_release(State& s, Pull& pull);
bool pull_waiting(const Pull& pull);
// Makes sure that the next pull_create() succeeds. Returns false when there is no memory.
bool pull_reserve(State& s);
// Makes the pull of a receive, without a handle. Returns nullptr when there is no memory.
Pull* pull_create(State& s, Request& receive, const wire::Rndv& rndv);
void pull_free(State& s, Pull& pull);
// Returns the pull in the slot that a handle names, whatever its generation; nullptr: none.
Pull* pull_of_slot(State& s, std::uint32_t handle);
// Returns the pull that has that handle; nullptr: it has ended.
Pull* pull_of_handle(State& s, std::uint32_t handle);
// Returns the pull that a PULL_REPLY or NACK_MCP names; nullptr: it has ended, or another endpoint than its
// peer sent the packet. `source` is the endpoint that the packet says it comes from.
Pull* pull_of(State& s, const wire::Head& head, wire::Frame frame, std::uint8_t source);

}  // namespace omx::protocol
