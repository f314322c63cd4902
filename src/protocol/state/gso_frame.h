// SPDX-License-Identifier: BSD-3-Clause
// GSO frames (docs/reference/wire.md 15): a frame by the bulk path that fills a GSO batch alone. The data are
// in one piece on both sides, which saves the kernel a walk over a hundred pieces.
#pragma once

#include <cstdint>

namespace omx::protocol {

struct Peer;
struct State;

// Returns the data bytes of each GSO frame for so many bytes to or from the peer; 0: an ordinary frame holds
// them.
std::uint32_t gso_unit(const State& s, const Peer& p, std::uint32_t length);
// Returns whether both sides know GSO frames.
bool gso_known(const State& s, const Peer& p);
// Returns whether both sides know GSO frames and none was cut recently between them.
bool gso_trusted(const State& s, const Peer& p);
// Returns whether a large message that begins now should come in GSO frames.
bool gso_wanted(State& s, const Peer& p);
// Returns whether we can send a PULL_REPLY with so many data bytes to the peer as a GSO frame.
bool gso_serves(const State& s, const Peer& p, std::uint32_t unit);
// Returns the fragment size with which a medium message goes as a GSO frame, and a short rest if it does not
// fit one; 0: it should not. The peer's bulk path is in use.
std::uint32_t gso_medium_unit(const State& s, const Peer& p, std::uint32_t length);
// Notes that a medium message in a GSO frame must be sent again. It may have been late or lost for another
// reason.
void gso_medium_lost(State& s, Peer& p);
// Notes that a GSO frame to or from the peer did not come whole, or could not be sent.
void gso_failed(State& s, Peer& p);

}  // namespace omx::protocol
