// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/timers.h"

#include "protocol/actions/ack_tx.h"
#include "protocol/actions/pull_schedule.h"
#include "protocol/events/pull_timer.h"
#include "protocol/events/retransmit.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull.h"
#include "protocol/state/state.h"
#include "protocol/state/timer.h"

namespace omx::protocol {

void timers_run(State& s) {
  while (Timer* t = s.timers.pop_due(s.now)) {
    switch (t->kind) {
      case TimerKind::ack: {
        Peer& p = *timer_owner<Peer, &Peer::ack_timer>(t);
        if (!p.counting.ack_pending) break;
        if (p.rx.ack_due <= s.now)
          ack_transmit(s, p);
        else
          s.timers.arm_by(p.ack_timer, p.rx.ack_due);
        break;
      }
      case TimerKind::resend:
        retransmit_timer(s, *timer_owner<Peer, &Peer::resend_timer>(t));
        break;
      case TimerKind::pull:
        pull_timer(s, *timer_owner<Pull, &Pull::timer>(t));
        break;
      case TimerKind::pull_schedule:
        pull_schedule_timer(s);
        break;
    }
  }
}

}  // namespace omx::protocol
