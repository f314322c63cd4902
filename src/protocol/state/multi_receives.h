// SPDX-License-Identifier: BSD-3-Clause
// A multi-receive buffer: a receive whose memory takes one message behind the other. It stays posted in its
// place, and each message gets a request of its own with the rest of the memory. When too little is left, the
// completion of the last message says so.
#pragma once

#include <cstdint>

namespace omx::protocol {

struct MultiReceive;
struct Request;
struct State;

void multi_receive_retire(State& s, MultiReceive& m);
// Makes a receive take several messages. Returns false when there is no memory.
bool multi_receive_begin(State& s, Request& posted, std::uint32_t least);
// Returns the request for a message that the posted receive matches.
Request* multi_receive_take(State& s, Request& posted, std::uint32_t msg_length);
void multi_receive_free(State& s, Request& posted);

}  // namespace omx::protocol
