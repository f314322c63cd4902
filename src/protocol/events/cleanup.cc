// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/cleanup.h"

#include "base/list.h"
#include "protocol/actions/coalesce.h"
#include "protocol/actions/completion.h"
#include "protocol/actions/deliver.h"
#include "protocol/actions/pull_run.h"
#include "protocol/actions/region_release.h"
#include "protocol/actions/resend_timer.h"
#include "protocol/actions/send_end.h"
#include "protocol/actions/watch.h"
#include "protocol/counters.h"
#include "protocol/history.h"
#include "protocol/observer.h"
#include "protocol/state/arrivals.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/eager_window.h"
#include "protocol/state/generations.h"
#include "protocol/state/history_note.h"
#include "protocol/state/matching.h"
#include "protocol/state/news.h"
#include "protocol/state/parked.h"
#include "protocol/state/peer.h"
#include "protocol/state/rails.h"
#include "protocol/state/reorder.h"
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
    else  // This receive's NOTIFY did not leave. Its message is as complete as one whose NOTIFY was lost.
      request_finish(s, *r, r->kind == RequestKind::receive ? r->status : status);
  }
}

Happened happened(Cleanup why) {
  switch (why) {
    case Cleanup::restarted:
      return Happened::peer_restarted;
    case Cleanup::given_up:
      return Happened::peer_given_up;
    case Cleanup::refused:
      return Happened::peer_refused;
    case Cleanup::abandoned:
      return Happened::peer_abandoned;
    case Cleanup::disconnected:
      break;
  }
  return Happened::peer_disconnected;
}

// Fails a large message that waits for its receive and that the sender will not send. The sender was told
// that we know the message, and later messages may be complete here. So the message keeps its place in the
// order, and its receive reports that it is lost.
void announcement_fail(State& s, Unexpected& u, Cleanup why, Status status) {
  if (why == Cleanup::disconnected) {  // our application does not want the message
    arrival_drop(s, u);
    return unexpected_free(s, u);
  }
  u.rendezvous = false;
  u.complete = true;
  u.failed = status;
}

// Fails all that is pending with the peer, in the order of docs/spec/protocol.md 7. Completely received
// messages stay, because their sender believes that they were delivered.
void pending_fail(State& s, Peer& p, Cleanup why, Status status) {
  s.region_waiters.remove(p);
  p.tx.notifies_queued = 0;
  p.tx.last_notify = nullptr;
  coalesce_drop(s, p);
  fail_list(s, p.tx.unacked, status);
  fail_list(s, p.tx.await_notify, status);
  fail_list(s, p.tx.queued, status);
  // A refused message says nothing about a pending connect, which gets an answer of its own.
  if (why == Cleanup::given_up || why == Cleanup::disconnected) fail_list(s, p.tx.connects, status);
  watch_fail(s, p, status, p.session.true_session);
  partial_abandon(s, p, status);
  reorder_drop(s, p);
  pulls_fail(s, p, status);
  for (Unexpected* u = s.matching.unexpected.front(); u;) {
    Unexpected* next = s.matching.unexpected.next(*u);
    if (u->peer == &p && u->rendezvous) announcement_fail(s, *u, why, status);
    u = next;
  }
}

}  // namespace

void peer_cleanup(State& s, Peer& p, Cleanup why, Status status) {
  history_note(s, happened(why), &p);
  if (why == Cleanup::restarted || why == Cleanup::abandoned) s.count(Counter::peer_restarted)++;
  if (why == Cleanup::given_up) s.count(Counter::peer_lost)++;
  if (s.config.observer) [[unlikely]]
    s.config.observer->on_forget(p, why);
  s.reports.ending_failed = s.reports.ending_lost = 0;

  pending_fail(s, p, why, status);
  const bool was_extended = p.agreed.extended;
  const bool was_open = p.connected();
  p.session.gone = status;
  if (was_open) p.session.ended_session = p.session.true_session;
  p.session.true_session = p.session.back_session = wire::kUnknownSession;
  p.session.back_known = false;
  p.counting.peer_generation_in_use = false;
  p.tx.frames_unacked = 0;
  eager_end(s, p);
  p.tx.eager_proven = p.tx.eager_windows = 0;
  p.tx.backoff = 0;
  p.liveness.pings_unanswered = 0;
  p.liveness.ping_pending = false;
  p.counting.send_acknum = p.counting.recv_acknum = 0;
  p.agreed.extended = p.agreed.checksum = false;
  p.agreed.features = 0;
  p.agreed.mode = s.config.mode;
  p.agreed.frame_agreed = p.agreed.frame_max = p.agreed.frame_in = p.liveness.probe_size = 0;
  p.agreed.probe_wanted = false;
  bulk_forget(s, p);
  rails_forget(s, p);
  park_forget(p);
  p.bulk.larges_out = p.bulk.unscheduled_pause = p.bulk.unscheduled_skip = 0;
  p.bulk.unscheduled_until = 0;
  p.bulk.alone = false;
  p.counting.ack_pending = p.counting.ack_asked = p.counting.marks_untold = false;
  p.ack_now.unlink();
  p.tx.sacks = false;
  p.counting.next_send = p.counting.next_acked =
      static_cast<Seqnum>(seq_session(p.counting.next_send) | kSeqFirst);
  // A legacy peer that connects again starts with the number that our last CONNECT announced, which may have
  // reached it already. It notices a change of numbers only with a new session count (unlike
  // docs/spec/protocol.md 7). Extended peers have counter generations.
  if (why != Cleanup::restarted || was_extended) peer_renumber(p);
  p.counting.last_acked = p.counting.next_match;
  peer_update_sizes(s, p);
  if (!p.rx.awaited.empty()) retransmit_arm(s, p);
  if (!was_open) return;
  if (++p.session.conversation == 0) p.session.conversation = 1;  // 0 means that there is none
  p.liveness.silence_told = false;
  news_ended(s, p, why, status);
}

void peer_sizes_check(State& s, Peer& p) {
  for (Request* r = p.tx.unacked.front(); r; r = p.tx.unacked.next(*r)) {
    if (medium_fits(p, *r)) continue;
    peer_cleanup(s, p, Cleanup::given_up);
    return;
  }
}

}  // namespace omx::protocol
