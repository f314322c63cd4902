// SPDX-License-Identifier: BSD-3-Clause
// Copies of what is sent, from which a message is sent again while its user has the memory back.
#pragma once

#include <cstddef>

namespace omx::protocol {

struct Request;
struct State;

// Memory for a copy, so that the user may have the own back at once; nullptr: none, or too much waits for
// acknowledgements.
std::byte* send_copy_memory(State& s, const Request& r);
void send_copy_fill(Request& r, std::byte* memory);
bool send_copy_now(State& s, Request& r);
bool send_copy_wanted(const Request& r);
// Makes a copy, if there is memory, of which the host's share is part, and sends need none to be
// acknowledged.
bool send_buffer(State& s, Request& r);
void send_release_buffer(State& s, Request& r);
// Copies the data of a send at once, also those that are pulled later. False: no memory for them.
bool send_inject(State& s, Request& r);
// Lets the peer fetch the copy of a message, if there is one.
void send_from_buffer(State& s, Request& r);
// Makes a copy of a parked message, from which its data are pulled, if there is memory.
void park_copy(State& s, Request& r);

}  // namespace omx::protocol
