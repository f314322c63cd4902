// SPDX-License-Identifier: BSD-3-Clause
// Counter generations: how two extended peers make sure that they count messages alike
// (docs/reference/wire.md 5).
//
// Each side counts what it receives. When it forgets a peer it begins a new count under a new generation, and
// stops using the peer's. CONNECT says three things: which generation its first number belongs to, which
// generation of the receiver the sender uses, and whether it still does. So no side mistakes a late packet
// for a new one or uses a count twice. A side that was forgotten finds out and ends the conversation as well.
// Only an application's connect opens the next conversation (docs/reference/contract.md). The session count
// in two bits of each number only keeps frames of different generations apart.
#include "protocol/state/generations.h"

#include "protocol/state/peer.h"
#include "protocol/state/seqnum.h"

namespace omx::protocol {

int generation_compare(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t ahead = (a - b) & wire::kCountGenerationMask;
  if (ahead == 0) return 0;
  return ahead <= wire::kCountGenerationMask / 2 ? 1 : -1;
}

std::uint32_t generation_first(std::uint32_t session) {
  // The result differs from that of our last instance, whose packets may still be under way.
  const std::uint32_t generation = (session * 0x9E3779B1U) & wire::kCountGenerationMask;
  return generation ? generation : 1;
}

std::uint32_t generation_next(std::uint32_t generation) {
  return generation == wire::kCountGenerationMask ? 1 : generation + 1;
}

void generation_fill(const Peer& p, wire::ConnectExt& ext) {
  ext.generation = p.counting.generation;
  ext.peer_generation = p.counting.peer_generation;
  ext.peer_generation_in_use = p.counting.peer_generation_in_use;
}

void peer_renumber(Peer& p) {
  // The peer cannot take the new number for a current one. It has the next session count
  // (docs/spec/protocol.md 7).
  p.counting.next_match =
      seq_next_session(static_cast<Seqnum>(seq_session(p.counting.next_match) | (kSeqFirst ^ 0x30F0)));
  p.counting.last_acked = p.counting.next_match;
  p.counting.generation = generation_next(p.counting.generation);
  p.counting.generation_offered = false;
}

}  // namespace omx::protocol
