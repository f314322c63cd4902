// SPDX-License-Identifier: BSD-3-Clause
// Begins connects, and cleans up after a connect that found no peer.
#pragma once

#include <cstdint>

#include "base/expected.h"
#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::protocol {

struct State;

Expected<Request*, OpError> connect_start(State& s, NicId nic, std::uint8_t endpoint, std::uint32_t key,
                                          std::uint64_t match_info, void* context, bool forgotten,
                                          bool hidden, std::uint32_t shunned = wire::kUnknownSession);
// Begins another count if the peer may have adopted the one that `r`, the last connect request, offered.
void connect_renumber(State& s, Peer& p, const Request& r);
// Notes that a connect ended without an answer. If it was the last one, the count that it offered is over.
// The peer may have adopted that count, and would use it indefinitely.
void connect_in_vain(State& s, Peer& p, const Request& r);

}  // namespace omx::protocol
