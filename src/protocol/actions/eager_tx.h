// SPDX-License-Identifier: BSD-3-Clause
// Sends tiny, small and medium messages.
#pragma once

namespace omx::protocol {

struct Request;
struct State;

void eager_transmit(State& s, Request& r);  // tiny and small
void medium_transmit(State& s, Request& r);
// Returns how many fragments a repetition has.
std::uint8_t medium_fragments(const State& s, const Request& r);

}  // namespace omx::protocol
