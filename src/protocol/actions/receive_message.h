// SPDX-License-Identifier: BSD-3-Clause
// Hands a message to the receive that it was matched to.
#pragma once

#include <cstddef>

#include "wire/packets.h"

namespace omx::protocol {

struct Request;
struct State;
struct Unexpected;

void receive_rndv(State& s, Request& r, const wire::Rndv& rndv, const std::byte* tail);
void message_receive(State& s, Request& r, Unexpected& u);

}  // namespace omx::protocol
