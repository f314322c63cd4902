// SPDX-License-Identifier: BSD-3-Clause
// A receive whose memory takes one message behind the other. It stays posted, in its place, and each message
// gets a request of its own with the rest of the memory, until too little is left; the completion of the last
// of them says so.
#pragma once

#include <cstdint>

#include "protocol/types.h"

namespace omx::protocol {

struct Request;
struct State;

struct MultiReceive {
  Request* posted = nullptr;  // what the application posted
  Request* spare = nullptr;   // for the next message
  std::uint32_t used = 0;     // bytes
  std::uint32_t least = 0;
  std::uint32_t running = 0;     // messages that are not complete
  bool retired = false;          // takes no more
  Status end = Status::pending;  // not pending: the memory comes back with this, not with a last message
};

// False: no memory.
bool multi_begin(State& s, Request& posted, std::uint32_t least);
// The request for a message that the posted receive matches.
Request* multi_take(State& s, Request& posted, std::uint32_t msg_length);
// One that multi_take gave is done.
void multi_ended(State& s, Request& r);
// The posted one ends with that status when its running messages have ended.
void multi_end(State& s, Request& posted, Status status);
void multi_free(State& s, Request& posted);

}  // namespace omx::protocol
