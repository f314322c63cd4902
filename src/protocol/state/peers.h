// SPDX-License-Identifier: BSD-3-Clause
// Peers of an endpoint: finding and creating them.
#pragma once

#include <cstdint>

#include "base/mac.h"

namespace omx::protocol {

struct Peer;
struct State;

Peer* peer_find(State& s, NicId nic, std::uint8_t endpoint);
Peer* peer_create(State& s, NicId nic, std::uint8_t endpoint);  // nullptr: no memory or slots

}  // namespace omx::protocol
