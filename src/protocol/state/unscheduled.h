// SPDX-License-Identifier: BSD-3-Clause
// Unscheduled data (docs/reference/wire.md 17): which peers may send them, and which of them are expected.
#pragma once

#include <cstdint>

#include "base/mac.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct Pull;
struct Request;
struct State;

std::uint32_t unscheduled_key(const wire::Rndv& rndv);
bool unscheduled_by_bulk(const Peer& p, std::uint32_t length);
// Notes that the receiver has the message. `more`: the next one may bring unscheduled data, too.
void unscheduled_notified(State& s, Peer& p, Request& r, bool more);
// Returns whether the NOTIFY of a message allows unscheduled data with the next one. `useful`: those of this
// message were of use.
bool unscheduled_leave(State& s, const Peer& p, bool useful);
// Returns how many frames of the pull come as unscheduled data.
std::uint32_t unscheduled_expect(State& s, Pull& pull, const wire::Rndv& rndv);
// Returns the pull that such a reply belongs to. unscheduled_is() tells whether it belongs to `pull`.
Pull* unscheduled_find(State& s, NicId nic, std::uint32_t magic, std::uint32_t key, std::uint8_t source);
bool unscheduled_is(const State& s, const Pull& pull, std::uint32_t magic, std::uint32_t key);

}  // namespace omx::protocol
