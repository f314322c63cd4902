// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/timers.h"

#include "protocol/actions/ack_tx.h"
#include "protocol/actions/pull_schedule.h"
#include "protocol/actions/resend_timer.h"
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

namespace {

// Returns false if the timer is due when it ends, as far as is known.
bool ack_settle(State& s, Peer& p) {
  const TimeNs due = p.counting.ack_pending ? p.rx.ack_due : kNever;
  if (due <= s.timers.deadline(p.ack_timer)) return false;
  s.timers.move(p.ack_timer, due);
  return true;
}

bool timer_settle(State& s, Timer& t) {
  if (t.kind == TimerKind::ack) return ack_settle(s, *timer_owner<Peer, &Peer::ack_timer>(&t));
  return t.kind == TimerKind::resend && retransmit_settle(s, *timer_owner<Peer, &Peer::resend_timer>(&t));
}

}  // namespace

void timers_settle(State& s) {
  // Timers of a few peers. With many peers a wake-up more costs little beside their frames.
  constexpr int kMost = 8;
  for (int i = 0; i < kMost; i++) {
    Timer* const first = s.timers.first();
    if (!first || !timer_settle(s, *first)) return;
  }
}

}  // namespace omx::protocol
