// SPDX-License-Identifier: BSD-3-Clause
// Data that peers announced by a bulk path (UDP) and that have not come yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "protocol/state/seqnum.h"
#include "protocol/types.h"

namespace omx::protocol {

struct State;

// Notes an announcement: of the answer to a request, or of data of which nothing is told (`answer` is 0).
void bulk_announced(State& s, Peer& p, std::uint32_t answer);
// Notes that data come by the bulk path: the rest of this message, or others.
void bulk_expected(State& s, Peer& p, std::optional<Seqnum> message = std::nullopt);
// Notes that the last fragment of a medium message came by the bulk path. An announcement follows.
void bulk_came_unannounced(State& s, Peer& p);
bool bulk_awaited(State& s, TimeNs now);
// Writes to `out` where the fragments of the next message by the bulk path belong, if that is known.
std::size_t medium_expected(State& s, std::span<ExpectedFrame> out);
// Notes that a poll of the bulk path found something.
void bulk_came(State& s);

}  // namespace omx::protocol
