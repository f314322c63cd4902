// SPDX-License-Identifier: BSD-3-Clause
// Gives back the region of a large send.
#pragma once

namespace omx::protocol {

struct Request;
struct State;

void region_release(State& s, Request& r);

}  // namespace omx::protocol
