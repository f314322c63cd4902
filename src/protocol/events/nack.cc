// SPDX-License-Identifier: BSD-3-Clause
// Refusals: a packet for a session that is gone, a pull from a region that is gone (docs/spec/wire.md
// 4.9-4.11).
#include "protocol/events/nack.h"

#include "protocol/actions/nack_tx.h"
#include "protocol/actions/watch.h"
#include "protocol/counters.h"
#include "protocol/events/cleanup.h"
#include "protocol/events/received.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/request.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

void nack_lib_received(State& s, const wire::Head& head, wire::Frame frame) {
  Peer* p = peer_find(s, head.src, static_cast<std::uint8_t>(frame[17]));
  if (!p || p->self) {
    s.count(Counter::drop_unknown_peer)++;
    return;
  }
  wire::NackLib packet;
  if (const auto drop = wire::decode_nack_lib(frame, p->agreed.extended, packet); drop != wire::Drop::none)
    return rx_drop(s, drop);
  // A nack for a connect comes from a board that does not know the agreement with the old instance.
  const bool for_connect =
      seq_number(packet.seqnum) == 0 && (!p->tx.connects.empty() || p->liveness.ping_pending);
  if (!for_connect && !rx_checksum_ok(s, p, frame)) return;
  const Status status = nack_status(packet.code);
  if (status == Status::pending) return;
  s.count(Counter::recv_nack_lib)++;

  if (seq_same_session(packet.seqnum, p->counting.next_send)) {
    for (Request* r = p->tx.unacked.front(); r; r = p->tx.unacked.next(*r)) {
      if (r->seqnum != packet.seqnum) continue;
      // Only another instance than the connected one refuses a number. It will refuse everything else too,
      // and the missing number could not be filled (docs/spec/protocol.md 5.5 [TRAP]).
      peer_cleanup(s, *p, Cleanup::refused, status);
      return;
    }
  }
  if (!for_connect) return;
  if (Request* r = p->tx.connects.front())
    connect_fail(s, *p, *r, status);
  else
    peer_cleanup(s, *p, Cleanup::refused, status);  // this answers a ping: the instance is gone
}

}  // namespace omx::protocol
