// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/ack_owed.h"

#include "protocol/state/parked.h"
#include "protocol/state/peer.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/state.h"

namespace omx::protocol {

bool ack_much_owed(const State& s, const Peer& p) {
  return seq_diff(p.counting.next_match, p.counting.last_acked) >=
             s.config.reliability.notacked_max_extended ||
         p.rx.frames_owed >= s.config.eager_frames / 4;
}

void ack_immediately(State& s, Peer& p) {
  if (!p.ack_now.linked()) s.ack_now.push_back(p);
}

void ack_as_asked(State& s, Peer& p) {
  p.counting.ack_asked = true;
  ack_immediately(s, p);
}

void ack_piggybacked(Peer& p) {
  p.counting.last_acked = p.counting.next_match;
  p.rx.frames_owed = 0;
  p.counting.ack_pending = p.counting.ack_asked = false;
  // The bitmap of a hole still has to go out, and so have a request for envelopes and news of marks.
  if (!p.rx.reorder && !park_waits(p) && !p.counting.marks_untold) p.ack_now.unlink();
}

}  // namespace omx::protocol
