// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/send_tx.h"

#include <cassert>

#include "protocol/actions/coalesce.h"
#include "protocol/actions/eager_tx.h"
#include "protocol/actions/large_tx.h"
#include "protocol/direct.h"
#include "protocol/history.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/eager_window.h"
#include "protocol/state/history_note.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/resend_time.h"
#include "protocol/state/state.h"

namespace omx::protocol {

void send_transmit(State& s, Request& r) {
  assert(r.phase == Phase::unacked);
  r.last_sent = s.now;
  const bool short_one = r.send_class == SendClass::tiny || r.send_class == SendClass::small;
  if (short_one && coalesce_add(s, r)) return;
  const bool gathers = r.send_class == SendClass::large || r.send_class == SendClass::notify;
  if (s.coalescing.peer == r.peer && !(gathers && s.coalescing.packets))
    coalesce_release(s);  // keeps the order
  switch (r.send_class) {
    case SendClass::tiny:
    case SendClass::small:
      eager_transmit(s, r);
      break;
    case SendClass::medium:
      medium_transmit(s, r);
      break;
    case SendClass::large:
      rndv_transmit(s, r);
      break;
    case SendClass::notify:
      notify_transmit(s, r);
      break;
  }
}

namespace {

// Returns whether a message is sent again because the network lost it. A silent receiver may just not have
// read it yet, and one without room refuses it. A loss by the bulk path may at first be the path's own fault.
bool shows_congestion(const Request& r, Counter why) {
  if ((r.tx.by_bulk && r.resends == 0) || r.peer->parking.park_next > 0) return false;
  return why == Counter::resend_sack ||
         (why == Counter::resend_timeout && r.peer->liveness.last_heard > r.last_sent);
}

// Begins a repetition, in one burst or spread over time.
void spread_begin(const State& s, Request& r, bool spreads) {
  const std::uint8_t fragments = spreads ? medium_fragments(s, r) : 0;
  r.tx.spread = fragments > 1 ? fragments : 0;
  r.tx.spread_sent = 0;
  if (r.tx.spread == 0) return;
  const EagerWindow* const w = r.peer->tx.eager;
  if (r.tx.spreads == 0 && w) r.tx.spreads = w->spreads;
  if (r.tx.spreads < 0xFF) r.tx.spreads++;
}

// Sends the next fragment of a repetition, which keeps the time at which it began.
void next_fragment(State& s, Request& r) {
  const TimeNs began = r.last_sent;
  r.tx.lost = false;
  send_transmit(s, r);
  r.last_sent = began;
}

}  // namespace

void send_retransmit(State& s, Request& r, Counter why) {
  assert(r.phase == Phase::unacked);
  if (r.spreading()) return next_fragment(s, r);
  if (r.tx.lost && r.resends == 0) r.peer->tx.trip.lost();
  if (shows_congestion(r, why)) eager_lost(s, *r.peer, r);
  const bool spreads = repetition_spread(r);
  if (r.resends < 0xFFFF) r.resends++;
  r.tx.lost = false;
  if (peer_reads_later(s, *r.peer)) {
    // A wake-up may have been lost.
    s.config.direct->wake_reader(r.peer->nic, r.peer->endpoint);
    r.last_sent = s.now;
    return;
  }
  s.count(why)++;
  r.peer->counting.resends++;
  history_note(s, Happened::resent, r.peer, r.match_info, r.msg_length, r.seqnum);
  bulk_medium_lost(s, r);
  spread_begin(s, r, spreads);
  send_transmit(s, r);
}

}  // namespace omx::protocol
