// SPDX-License-Identifier: BSD-3-Clause
// Parked messages (docs/reference/wire.md 19). A receiver without room for the data of an eager message asks
// for its envelope alone, and for the envelopes of the messages behind it. These come again as RNDVs under
// their numbers, and their data stay with the sender until receives match. So no message waits for room that
// another one takes, in whatever order receives are posted.
//
// Once a receiver has asked, it accepts nothing else under these numbers. The sender may have changed the
// messages already, and would wait for a NOTIFY if an old copy of the data were delivered.
#include "protocol/state/parked.h"

#include "protocol/counters.h"
#include "protocol/state/peer.h"
#include "protocol/state/reorder.h"
#include "protocol/state/request.h"
#include "protocol/state/room.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

bool peer_reads_parked(const Peer& p) {
  return (p.agreed.features & wire::kFeaturePark) && p.agreed.mode == wire::Mode::omx;
}

bool sent_eagerly(const Request& r) {
  return r.kind == RequestKind::send && r.send_class != SendClass::large && r.send_class != SendClass::notify;
}

bool park_waits(const Peer& p) {
  return p.parking.park_asked;
}

void park_told(State& s, Peer& p) {
  p.parking.park_asked = false;
  p.parking.park_range = kParkRange;
  reorder_drop_data(s, p);
}

void park_refused(State& s, Peer& p) {
  held_up_note(s, p, HeldUp::What::data, s.memory.buffers.limit());
  if (s.config.parks && peer_reads_parked(p)) p.parking.park_asked = true;
}

void park_taken_up(State& s, Peer& p, wire::PacketType type) {
  if (type == wire::PacketType::rndv) s.count(Counter::recv_parked)++;
  p.parking.park_range--;
}

void park_forget(Peer& p) {
  p.parking.park_asked = false;
  p.parking.park_range = 0;
  p.parking.park_left = p.parking.park_next = 0;
}

bool park_region(State& s, Request& r) {
  return s.regions.acquire(r, s.config.parks && peer_reads_parked(*r.peer));
}

bool park_defers(const State& s, const Peer& p) {
  return p.parking.park_left > 0 && s.config.parks && peer_reads_parked(p);
}

void park_counted(State& s, Peer& p, const Request& r) {
  if (r.tx.parked) {
    s.count(Counter::send_parked)++;
    if (p.parking.park_left > 0) p.parking.park_left--;
  } else if (sent_eagerly(r)) {
    p.parking.park_left = p.parking.park_next;
  }
}

void park_taken(Peer& p) {
  p.parking.park_next /= 2;
  if (p.parking.park_next < kTrialFirst) p.parking.park_next = p.parking.park_left = 0;
}

}  // namespace omx::protocol
