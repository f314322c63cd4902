// SPDX-License-Identifier: BSD-3-Clause
// Counter generations ("epochs"): how two extended peers make sure that they count messages alike
// (docs/reference/wire.md 5).
//
// Each side counts what it receives. When it forgets a peer it begins a new count under a new generation, and
// stops using the peer's. CONNECT says three things: which generation its first number belongs to, which
// generation of the receiver the sender uses, and whether it still does. So no side mistakes a late packet
// for a new one or uses a count twice. A side that was forgotten finds out and ends the conversation as well.
// Only an application's connect opens the next conversation (docs/reference/contract.md). The session count
// in two bits of each number only keeps frames of different generations apart.
#include "protocol/state/epochs.h"

#include "protocol/state/peer.h"
#include "protocol/state/seqnum.h"

namespace omx::protocol {

int epoch_compare(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t ahead = (a - b) & wire::kEpochMask;
  if (ahead == 0) return 0;
  return ahead <= wire::kEpochMask / 2 ? 1 : -1;
}

std::uint32_t epoch_first(std::uint32_t session) {
  // The result differs from that of our last instance, whose packets may still be under way.
  const std::uint32_t epoch = (session * 0x9E3779B1U) & wire::kEpochMask;
  return epoch ? epoch : 1;
}

std::uint32_t epoch_next(std::uint32_t epoch) {
  return epoch == wire::kEpochMask ? 1 : epoch + 1;
}

void epoch_fill(const Peer& p, wire::ConnectExt& ext) {
  ext.epoch = p.counting.epoch;
  ext.peer_epoch = p.counting.peer_epoch;
  ext.peer_epoch_in_use = p.counting.peer_epoch_in_use;
}

void peer_renumber(Peer& p) {
  // The peer cannot take the new number for a current one. It has the next session count
  // (docs/spec/protocol.md 7).
  p.counting.next_match =
      seq_next_session(static_cast<Seqnum>(seq_session(p.counting.next_match) | (kSeqFirst ^ 0x30F0)));
  p.counting.last_acked = p.counting.next_match;
  p.counting.epoch = epoch_next(p.counting.epoch);
  p.counting.epoch_offered = false;
}

}  // namespace omx::protocol
