// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/pull_timer.h"

#include <algorithm>

#include "protocol/actions/connect_tx.h"
#include "protocol/actions/probe.h"
#include "protocol/actions/pull_request.h"
#include "protocol/actions/pull_run.h"
#include "protocol/actions/pull_schedule.h"
#include "protocol/actions/rails_tend.h"
#include "protocol/counters.h"
#include "protocol/direct.h"
#include "protocol/events/cleanup.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/gso_frame.h"
#include "protocol/state/news.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_copy.h"
#include "protocol/state/pull_silence.h"
#include "protocol/state/pull_window.h"
#include "protocol/state/resend_time.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

constexpr std::uint32_t kSilentRoundsBulk = 2;  // after these the bulk path is suspected
constexpr std::uint32_t kSilentRoundsMtu = 5;   // after these large frames are suspected

// Returns whether the frames of a pull no longer have the size that they should have. Each PULL of an omx
// peer names its size, so only a smaller size matters there.
bool size_changed(const State& s, const Pull& pull) {
  const Peer& p = *pull.peer;
  if (pull.by_bulk && p.bulk.in) {
    if (!pull.gso) return pull.unit != bulk_sizes(s, p).pull_reply_max;
    // A pull whose frames come does not begin again because others were cut.
    const bool given_up = pull.silent_rounds >= kSilentRoundsBulk && !gso_trusted(s, p);
    return given_up || pull.unit != gso_unit(s, p, pull.length);
  }
  const bool named = p.agreed.extended && p.agreed.mode == wire::Mode::omx;
  return named ? pull.unit > p.agreed.sizes.pull_reply_max : pull.unit != p.agreed.sizes.pull_reply_max;
}

// Asks again for what a block misses. A peer that stopped, before its answer or in the middle of one, may
// just not run. If it is the only sender, congestion in its own link shows as gaps, so silence is no sign of
// congestion, unless others fill the queue.
void block_late(State& s, Pull& pull, PullBlock& block, bool oldest) {
  const Peer& p = *pull.peer;
  const bool answers = !block.untouched || p.liveness.last_heard > block.asked_at;
  const bool congestion = answers && (s.pulling.senders > 1 || s.pulling.window(block.rail).contended());
  if (block.missing && congestion) pull_lost(s, pull, block);
  if (block.missing && answers) pull_ahead_lost(s, block);
  if (p.rails) {
    if (block.missing) rails_late(s, pull, block);
    return;
  }
  // Where much was lost, asking for all of it at once would lose it again.
  if (answers && !oldest && s.pulling.port(block.rail).in_flight > pull_allowed(s, block.rail)) return;
  pull_ask_again(s, pull, block, Counter::pull_rerequest_timer);
  block.asked = s.pulling.asked;  // losing the new answers counts as another loss
}

}  // namespace

void pull_timer(State& s, Pull& pull) {
  Peer& p = *pull.peer;
  if (pull.block_count == 0 || pull.share) return;  // waits for its turn, or not for frames
  copies_tend(s);
  // Inactivity, not total time, ends a pull (docs/spec/protocol.md 8.3 [DO]). Only answers to this pull
  // count, because a peer that sends other packets may still never serve it. The pull must have been asked
  // for without answer, and recently, as in retransmit.cc.
  const TimeNs timeout = pull.request->timeout;
  // A peer that was heard since the last reply gets the full time-out again from then. The extension is
  // bounded: a peer that leaves a pull unanswered for two time-outs does not mean to answer.
  const TimeNs heard = std::clamp(p.liveness.last_heard, pull.last_reply, time_add(pull.last_reply, timeout));
  const TimeNs limit = time_add(heard, timeout);
  const TimeNs asked = pull_silent_since(pull);
  // Enough time to answer, also for a peer that does not run all the time.
  const TimeNs time =
      std::min(s.config.reliability.resend_delay_extended,
               std::max(s.config.reliability.resend_delay_max, s.config.reliability.pull_patience_least));
  if (s.now >= limit && pull.silent_rounds >= 2 && s.now >= asked + time &&
      s.now <= asked + 2 * pull_delay(s, pull)) {
    // The rest of the message will not come, so no later message may be delivered.
    s.count(Counter::pull_timeout)++;
    peer_cleanup(s, p, Cleanup::given_up);
    return;
  }
  TimeNs told = kNever;
  news_silence_check(s, p, told);
  pull_passed_check(s, pull);
  if (s.now < asked + pull_delay(s, pull)) {
    s.timers.arm_by(pull.timer, std::min(asked + pull_delay(s, pull), limit > s.now ? limit : kNever));
    return;
  }
  pull.silent_rounds++;
  const bool bulk = pull.by_bulk && p.bulk.in && pull.silent_rounds >= kSilentRoundsBulk;
  const bool large = pull.silent_rounds >= kSilentRoundsMtu && p.agreed.extended &&
                     p.larger_frames_than(s.config.base_frame);
  // The bulk path and large frames are suspected only while small frames by the link get through.
  if ((bulk || large) && p.liveness.last_heard <= pull.last_asked) {
    connect_ping(s, p);
  } else {
    if (bulk && pull.gso)
      gso_failed(s, p);
    else if (bulk)
      bulk_in_fails(s, p);
    if (large) probe_fall_back(s, p);
  }
  pull.last_asked = s.now;
  if (size_changed(s, pull)) return pull_restart(s, pull);
  if (p.rails) rails_tend(s, p);
  const bool later = peer_reads_later(s, p);
  if (later) s.config.direct->wake_reader(p.nic, p.endpoint);
  for (std::uint32_t i = 0; i < pull.block_count && !later; i++) block_late(s, pull, pull.block(i), i == 0);
  s.timers.arm_by(pull.timer, std::min(s.now + pull_delay(s, pull), limit > s.now ? limit : kNever));
}

}  // namespace omx::protocol
