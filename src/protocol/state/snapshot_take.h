// SPDX-License-Identifier: BSD-3-Clause
// Fills a Snapshot.
#pragma once

namespace omx::protocol {

struct Snapshot;
struct State;

void snapshot_take(State& s, Snapshot& out);

}  // namespace omx::protocol
