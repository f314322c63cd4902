// SPDX-License-Identifier: BSD-3-Clause
// Fragments of a medium message may be copied by an offload engine, too. We copy the last one ourselves, and
// wait for the others before the message completes: they overlap with each other and with the processing of
// later fragments, which the original could not do (Goglin, Cluster 2008, III-C and IV-C).
#pragma once

#include <cstddef>
#include <cstdint>

namespace omx::protocol {

struct Partial;
struct State;

// Puts the data of a fragment into the matched receive, or lets the engine do so. `last`: the message is
// whole with them.
void medium_copy(State& s, Partial& partial, std::uint32_t offset, const std::byte* data,
                 std::uint32_t length, bool last);
// Waits for the copies. Returns whether all were made.
bool medium_copied(State& s, const Partial& partial);

}  // namespace omx::protocol
