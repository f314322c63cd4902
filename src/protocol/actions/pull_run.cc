// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/pull_run.h"

#include <cassert>

#include "protocol/actions/completion.h"
#include "protocol/actions/pull_schedule.h"
#include "protocol/actions/pull_share.h"
#include "protocol/actions/rails_tend.h"
#include "protocol/actions/send.h"
#include "protocol/direct.h"
#include "protocol/history.h"
#include "protocol/offload.h"
#include "protocol/state/arrivals.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/gso_frame.h"
#include "protocol/state/history_note.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_copy.h"
#include "protocol/state/pull_slots.h"
#include "protocol/state/pull_window.h"
#include "protocol/state/request.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "protocol/state/unscheduled.h"

namespace omx::protocol {

namespace {

constexpr std::uint32_t kOwnSocketBytes = 32 * 1024;  // from here on a pull is worth a bulk path of its own

}  // namespace

void pull_transfer_begin(State& s, Pull& pull, const wire::Rndv* rndv) {
  assert(!pull_waiting(pull));
  const Peer& p = *pull.peer;
  pull.by_bulk = s.config.bulk.pulls && p.bulk.in && pull.length >= kBulkBytes && !p.rails;
  const std::uint32_t gso = pull.by_bulk && gso_wanted(s, p) ? gso_unit(s, p, pull.length) : 0;
  pull.gso = gso > 0;
  pull_lay_out(pull, pull.gso       ? gso
                     : pull.by_bulk ? bulk_sizes(s, p).pull_reply_max
                                    : p.agreed.sizes.pull_reply_max);
  if (!pull.by_bulk && pull.length >= kOwnSocketBytes) {
    s.transfers.bulk_seen = true;
    if (p.agreed.intra_node_frame == 0) pull_pace_begin(s, pull);
  }
  pull.blocks_max = pull_blocks(s);
  if (pull_striped(pull)) {
    pull.blocks_max = kPullBlocksStriped;
    rails_tend(s, *pull.peer);
  }
  pull.next_frame = 0;
  pull.first_block = pull.block_count = 0;
  pull.blocks = {};
  pull.leave = rndv != nullptr;
  if (const std::uint32_t frames = rndv ? unscheduled_expect(s, pull, *rndv) : 0; frames > 0)
    pull_await_first(s, pull, frames);
  pull_ring_midway(s, pull);
  pull_want(s, pull);
}

namespace {

void start_waiting(State& s) {
  for (Pull* pull = s.transfers.pull_waiting.front(); pull;) {
    Pull* next = s.transfers.pull_waiting.next(*pull);
    if (pull_slot_allowed(s, *pull->peer)) {
      if (!pull_slot_acquire(s, *pull)) break;
      pull->all.unlink();
      s.transfers.pull_list.push_back(*pull);
      pull_transfer_begin(s, *pull);
    }
    pull = next;
  }
  pulls_ask(s);
}

// Ends the transfer and notifies the sender.
void large_received(State& s, Request& r, Status status, std::uint32_t length, bool leave) {
  r.rx.leave = leave;
  const bool success = status == Status::success;
  r.rx.notify_length = success ? length : 0;
  if (!success) r.xfer_length = 0;
  r.status = success && r.xfer_length < r.msg_length ? Status::truncated : status;
  if (success) {
    receive_count(s, r);
    history_note(s, Happened::pulled, r.peer, r.match_info, r.msg_length);
  }
  if (r.peer->reply_session() == wire::kUnknownSession)
    request_finish(s, r, r.status);
  else
    send_queue_notify(s, r);
}

// Reads the data from the sender's memory, without a single frame.
bool read_directly(State& s, Request& receive, const wire::Rndv& rndv) {
  const Peer& p = *receive.peer;
  if (!s.config.direct->read(p.nic, p.endpoint, rndv.rdma_id, rndv.rdma_seqnum, rndv.rdma_offset,
                             receive.segments.span(), receive.xfer_length))
    return false;
  large_received(s, receive, Status::success, receive.xfer_length, false);
  return true;
}

}  // namespace

void pull_start(State& s, Request& receive, const wire::Rndv& rndv, const std::byte* tail) {
  assert(receive.phase == Phase::matched);
  assert(!receive.rx.pull);
  assert(receive.xfer_length > 0);
  // Regions of other pages are not published.
  const bool direct = s.config.direct && rndv.page == 0;
  if (direct && (share_start(s, receive, rndv) || read_directly(s, receive, rndv))) return;
  Pull* pull = pull_create(s, receive, rndv);
  if (!pull) {  // the sender must not wait indefinitely
    receive.xfer_length = receive.rx.notify_length = 0;
    receive.status = Status::no_resources;
    return send_queue_notify(s, receive);
  }
  if (tail && receive.xfer_length == receive.msg_length && rndv.tail < pull->length) {
    pull->length -= rndv.tail;
    pull->tail = rndv.tail;
    receive.segments.write(pull->length, tail, rndv.tail);
  }
  if (!pull_slot_allowed(s, *pull->peer) || !pull_slot_acquire(s, *pull)) {
    s.transfers.pull_waiting.push_back(*pull);
    return;
  }
  s.transfers.pull_list.push_back(*pull);
  pull_transfer_begin(s, *pull, tail ? &rndv : nullptr);
  pulls_ask(s);
}

void pull_restart(State& s, Pull& pull) {
  pull_slot_release(s, pull);
  pull.share = pull.asks = false;
  [[maybe_unused]] const bool got = pull_slot_acquire(s, pull);
  assert(got);
  pull.silent_rounds = 0;
  pull_transfer_begin(s, pull);
  pulls_ask(s);
}

void pull_finish(State& s, Pull& pull, Status status) {
  assert(pull.request->rx.pull == &pull);
  if (pull_waits_for_copies(s, pull, status)) {
    if (pull_waiting(pull)) return;
    pull_slot_release(s, pull);
    s.timers.cancel(pull.timer);
    pull.all.unlink();
    s.transfers.pull_copying.push_back(pull);
    return start_waiting(s);
  }
  Request& r = *pull.request;
  const std::uint32_t length = pull.length + pull.tail;
  const bool leave = unscheduled_leave(s, *pull.peer, pull.leave);
  if (pull.by_bulk && status == Status::success) bulk_received_count(s, length);
  pull_free(s, pull);
  large_received(s, r, status, length, leave);
  start_waiting(s);
}

void pulls_fail(State& s, Peer& p, Status status) {
  if (p.rx.pulls && s.config.offload) s.config.offload->drain();
  for (auto* list : {&s.transfers.pull_list, &s.transfers.pull_waiting, &s.transfers.pull_copying,
                     &s.transfers.pull_sharing}) {
    for (Pull* pull = list->front(); pull && p.rx.pulls;) {
      Pull* next = list->next(*pull);
      if (pull->peer == &p) {
        Request& r = *pull->request;
        r.xfer_length = 0;
        s.reports.ending_failed++;
        pull_free(s, *pull);
        request_finish(s, r, status);
      }
      pull = next;
    }
  }
  if (!s.closing) start_waiting(s);
}

}  // namespace omx::protocol
