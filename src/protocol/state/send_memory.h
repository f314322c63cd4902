// SPDX-License-Identifier: BSD-3-Clause
// Copies of sends, from which a message is repeated after the user has the memory back.
#pragma once

#include <cstddef>

namespace omx::protocol {

struct Request;
struct State;

// Returns memory for a copy, so that the user may have the original back at once. Returns nullptr when there
// is none, or when too much waits for acknowledgements.
std::byte* send_copy_memory(State& s, Request& r);
// Returns how much of the memory for copies a request's copy takes. That of a short message lies in the
// request.
std::size_t send_copy_bytes(const Request& r);
void send_copy_fill(Request& r, std::byte* memory);
bool send_copy_now(State& s, Request& r);
bool send_copy_wanted(const Request& r);
// Makes a copy if there is memory, including the host's share. Returns false when there is none. Unlike
// send_copy_memory(), it does not limit how many sends wait for acknowledgements.
bool send_buffer(State& s, Request& r);
void send_release_buffer(State& s, Request& r);
// Copies the data of a send at once, including data that are pulled later. Returns false when there is no
// memory.
bool send_inject(State& s, Request& r);
// Lets the peer fetch the copy of a message, if there is one.
void send_from_buffer(State& s, Request& r);
// Makes a copy of a parked message if there is memory. The data are then pulled from that copy.
void park_copy(State& s, Request& r);

}  // namespace omx::protocol
