// SPDX-License-Identifier: BSD-3-Clause
// Answers the requests of a pull, straight from user memory.
#pragma once

#include <cstdint>

#include "base/mac.h"
#include "wire/packets.h"

namespace omx::protocol {

struct Peer;
struct Request;
struct State;

// A request, checked against the region that it names.
struct PullRange {
  std::uint32_t unit = 0;
  std::uint64_t offset = 0;  // offset in the message
  std::uint32_t first = 0;   // bytes of the first reply at most
};

// The way back of a request: our board, and the board of the peer.
struct PullRoute {
  unsigned rail = 0;
  NicId nic = 0;
};

void pull_reply_send(State& s, Peer& p, Request& r, const wire::Pull& pull, const PullRange& range,
                     bool again = false, const PullRoute* way = nullptr);
// Sends the first replies of a message, with `unit` data bytes each, as if they had been asked for.
void pull_answer(State& s, Peer& p, Request& r, const wire::Pull& request, std::uint32_t unit);

}  // namespace omx::protocol
