// SPDX-License-Identifier: BSD-3-Clause
// Unscheduled data (docs/reference/wire.md 17): who may send them, and which of them are expected.
#pragma once

#include <cstdint>

#include "base/mac.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Partner;
struct Pull;
struct Request;
struct State;

std::uint32_t unasked_key(const wire::Rndv& rndv);
bool unasked_by_lane(const Partner& p, std::uint32_t length);
// Notes that the receiver has the message. `more`: the next one may bring unscheduled data, too.
void unasked_notified(State& s, Partner& p, Request& r, bool more);
// Whether the NOTIFY of a message shall allow the next one unscheduled data. `useful`: this one's were of
// use.
bool unasked_leave(State& s, const Partner& p, bool useful);
// Returns how many frames of the pull come without being asked for.
std::uint32_t unasked_expect(State& s, Pull& pull, const wire::Rndv& rndv);
// Whose such a reply is, and whether it is that one's.
Pull* unasked_find(State& s, NicId nic, std::uint32_t magic, std::uint32_t key);
bool unasked_is(const State& s, const Pull& pull, std::uint32_t magic, std::uint32_t key);

}  // namespace omx::protocol
