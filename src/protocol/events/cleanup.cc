// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/cleanup.h"

#include "base/list.h"
#include "protocol/actions/completion.h"
#include "protocol/actions/deliver.h"
#include "protocol/actions/pack.h"
#include "protocol/actions/pull_run.h"
#include "protocol/actions/region_release.h"
#include "protocol/actions/resend_timer.h"
#include "protocol/actions/send_end.h"
#include "protocol/actions/watch.h"
#include "protocol/counters.h"
#include "protocol/history.h"
#include "protocol/observer.h"
#include "protocol/state/arrivals.h"
#include "protocol/state/early.h"
#include "protocol/state/epochs.h"
#include "protocol/state/history_note.h"
#include "protocol/state/lane.h"
#include "protocol/state/matching.h"
#include "protocol/state/news.h"
#include "protocol/state/parked.h"
#include "protocol/state/partner.h"
#include "protocol/state/rails.h"
#include "protocol/state/request.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

void fail_list(State& s, List<Request, &Request::queue>& list, Status status) {
  while (Request* r = list.pop_front()) {
    if (r->kind == RequestKind::send && r->send_class == SendClass::large && r->phase != Phase::queued)
      region_release(s, *r);
    if (r->kind == RequestKind::send)
      send_fail(s, *r, status);
    else  // A receive whose NOTIFY did not leave: its message is as complete as one whose NOTIFY was lost.
      request_finish(s, *r, r->kind == RequestKind::receive ? r->status : status);
  }
}

Happened happened(Cleanup why) {
  switch (why) {
    case Cleanup::restarted:
      return Happened::partner_restarted;
    case Cleanup::given_up:
      return Happened::partner_given_up;
    case Cleanup::refused:
      return Happened::partner_refused;
    case Cleanup::abandoned:
      return Happened::partner_abandoned;
    case Cleanup::disconnected:
      break;
  }
  return Happened::partner_disconnected;
}

// A large message that waits for its receive, and whose sender will not send it any more. The sender was told
// that we know of it, and later messages may be here whole: so its place in the order stays, and whoever
// receives it learns that it is lost.
void announcement_fail(State& s, Unexpected& u, Cleanup why, Status status) {
  if (why == Cleanup::disconnected) {  // our application does not want it any more
    arrival_drop(s, u);
    return unexpected_free(s, u);
  }
  u.rendezvous = false;
  u.complete = true;
  u.failed = status;
}

}  // namespace

void partner_cleanup(State& s, Partner& p, Cleanup why, Status status) {
  history_note(s, happened(why), &p);
  if (why == Cleanup::restarted || why == Cleanup::abandoned) s.count(Counter::partner_restarted)++;
  if (why == Cleanup::given_up) s.count(Counter::partner_lost)++;
  if (s.config.observer) [[unlikely]]
    s.config.observer->on_forget(p, why);
  s.ending_failed = s.ending_lost = 0;

  if (p.region_blocked) {
    p.region_blocked = false;
    p.region_wait.unlink();
  }
  // Order of protocol.md 7. What was completely received stays: its sender believes that it was delivered.
  p.notifies_queued = 0;
  p.last_notify = nullptr;
  pack_drop(s, p);
  fail_list(s, p.unacked, status);
  fail_list(s, p.await_notify, status);
  fail_list(s, p.queued, status);
  // A refused message says nothing about a connect under way: that has an answer of its own.
  if (why == Cleanup::given_up || why == Cleanup::disconnected) fail_list(s, p.connects, status);
  watch_fail(s, p, status, p.true_session);
  partial_abandon(s, p, status);
  early_drop(s, p);
  pulls_fail(s, p, status);
  for (Unexpected* u = s.unexpected.front(); u;) {
    Unexpected* next = s.unexpected.next(*u);
    if (u->partner == &p && u->rendezvous) announcement_fail(s, *u, why, status);
    u = next;
  }

  const bool was_extended = p.extended;
  const bool was_open = p.connected();
  p.gone = status;
  if (was_open) p.ended_session = p.true_session;
  p.true_session = p.back_session = wire::kUnknownSession;
  p.back_known = false;
  p.peer_epoch_in_use = false;
  p.frames_unacked = 0;
  p.backoff = 0;
  p.pings_unanswered = 0;
  p.ping_pending = false;
  p.send_acknum = p.recv_acknum = 0;
  p.extended = p.checksum = false;
  p.features = 0;
  p.mode = s.config.mode;
  p.frame_agreed = p.frame_max = p.frame_in = p.probe_size = 0;
  p.probe_wanted = false;
  lane_forget(s, p);
  rails_forget(s, p);
  park_forget(p);
  p.larges_out = p.unasked_pause = p.unasked_skip = 0;
  p.unasked_until = 0;
  p.ack_pending = false;
  p.ack_now.unlink();
  p.sacks = false;
  p.next_send = p.next_acked = static_cast<Seqnum>(seq_session(p.next_send) | kSeqFirst);
  // A reference peer that connects anew starts with the number that our last CONNECT announced, and that may
  // have reached it already: the numbers change only with the session count, which it notices (unlike
  // protocol.md 7). Extended peers have epochs.
  if (why != Cleanup::restarted || was_extended) partner_renumber(p);
  p.last_acked = p.next_match;
  partner_update_sizes(s, p);
  if (!p.awaited.empty()) retransmit_arm(s, p);
  if (!was_open) return;
  if (++p.conversation == 0) p.conversation = 1;  // 0 means none
  p.silence_told = false;
  news_ended(s, p, why, status);
}

void partner_sizes_check(State& s, Partner& p) {
  for (Request* r = p.unacked.front(); r; r = p.unacked.next(*r)) {
    if (medium_fits(p, *r)) continue;
    partner_cleanup(s, p, Cleanup::given_up);
    return;
  }
}

}  // namespace omx::protocol
