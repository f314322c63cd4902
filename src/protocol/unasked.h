// SPDX-License-Identifier: BSD-3-Clause
// Data of large messages that come before they are asked for (unasked.cc, docs/reference/wire.md 17).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/list.h"
#include "protocol/pull.h"
#include "wire/packets.h"

namespace omx::protocol {

struct State;

// Who may send so.
struct UnaskedLeave {
  const Partner* partner = nullptr;
  TimeNs until = 0;
};

// What nobody expected.
struct UnaskedLost {
  NicId nic = 0;
  std::uint32_t magic = 0, key = 0;
  bool operator==(const UnaskedLost&) const = default;
};

struct Unasked {
  std::array<UnaskedLeave, 3> leaves;  // together no more than even the ports of small switches hold
  List<Pull, &Pull::unasked_hook> running;
  std::array<UnaskedLost, 4> lost;  // that came before their RNDV, or in vain
  std::size_t lost_last = 0;
};

// Sender: counts the message, and says which frames will follow the RNDV, if any; then sends them.
void unasked_plan(State& s, Request& r, wire::Rndv& packet);
void unasked_transmit(State& s, Request& r, const wire::Rndv& rndv);
// The receiver has the message; `more`: the next one may do the same.
void unasked_notified(State& s, Partner& p, Request& r, bool more);

// Receiver: whether the message's NOTIFY shall say so, if the data were of use.
bool unasked_leave(State& s, const Partner& p, bool useful);
// How many frames of the pull come by themselves.
std::uint32_t unasked_expect(State& s, Pull& pull, const wire::Rndv& rndv);
// Whose such a reply is, and whether it is that one's.
Pull* unasked_find(State& s, NicId nic, std::uint32_t magic, std::uint32_t key);
bool unasked_is(const State& s, const Pull& pull, std::uint32_t magic, std::uint32_t key);

}  // namespace omx::protocol
