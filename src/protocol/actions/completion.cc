// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/completion.h"

#include <cassert>

#include "protocol/history.h"
#include "protocol/state/arrivals.h"
#include "protocol/state/history_note.h"
#include "protocol/state/multi_receive.h"
#include "protocol/state/multi_receives.h"
#include "protocol/state/request.h"
#include "protocol/state/requests.h"
#include "protocol/state/send_memory.h"
#include "protocol/state/state.h"

namespace omx::protocol {

namespace {

void request_free(State& s, Request& r) {
  assert(!r.queue.linked() && !r.match.linked() && !r.done.linked());
  if (r.rx.multi_receive) multi_receive_free(s, r);
  r.segments.clear(s.memory.segment_lists);
  send_release_buffer(s, r);
  s.memory.requests.destroy(&r);
}

void announce(State& s, Request& r) {
  s.completion.completions++;
  if (r.hidden) return;
  s.completion.done.push_back(r);
  if (!s.completion.done_by_context.empty())
    s.completion.done_by_context[context_id(s, r.match_info)]->push_back(r);
}

bool is_buffered_send(const Request& r) {
  return r.user_done && r.phase != Phase::finished && !r.tx.waits;
}

}  // namespace

void request_user_done(State& s, Request& r, Status status) {
  assert(!r.user_done);
  r.user_done = true;
  r.status = status;
  if (status != Status::success) [[unlikely]]
    history_note(s, Happened::failed, r.peer, r.match_info, r.msg_length);
  if (is_buffered_send(r)) s.completion.buffered_sends++;
  if (!r.user_gone) announce(s, r);
  if (r.rx.multi_receive && r.rx.multi_receive->posted != &r) multi_receive_ended(s, r);
}

void request_protocol_done(State& s, Request& r) {
  assert(r.phase != Phase::finished);
  if (is_buffered_send(r)) s.completion.buffered_sends--;
  r.phase = Phase::finished;
  send_release_buffer(s, r);
  if (r.user_done && r.user_gone) request_free(s, r);
}

void request_finish(State& s, Request& r, Status status) {
  if (r.user_done) {
    request_protocol_done(s, r);
    return;
  }
  if (r.tx.waits) s.room.awaiting--;
  r.phase = Phase::finished;
  if (s.completion.uncopied == &r) s.completion.uncopied = nullptr;
  request_user_done(s, r, status);
  if (r.user_gone) request_free(s, r);
}

void request_user_gone(State& s, Request& r) {
  r.user_gone = true;
  r.done.unlink();
  r.done_context.unlink();
  if (r.user_done && r.phase == Phase::finished) request_free(s, r);
}

namespace {

void multi_receive_finish(State& s, MultiReceive& m) {
  m.posted->rx.released = true;
  request_finish(s, *m.posted, m.end);
}

}  // namespace

void multi_receive_ended(State& s, Request& r) {
  MultiReceive& m = *r.rx.multi_receive;
  r.rx.multi_receive = nullptr;
  m.running--;
  if (!m.retired || m.running > 0) return;
  if (m.end != Status::pending) return multi_receive_finish(s, m);
  r.rx.released = true;
  m.posted->user_gone = true;  // the application sees only the messages of the buffer
  request_finish(s, *m.posted, Status::success);
}

void multi_receive_end(State& s, Request& posted, Status status) {
  MultiReceive& m = *posted.rx.multi_receive;
  multi_receive_retire(s, m);
  m.end = status;
  if (m.running == 0) multi_receive_finish(s, m);
}

void receive_complete(State& s, Request& r) {
  receive_count(s, r);
  request_finish(s, r, r.xfer_length < r.msg_length ? Status::truncated : Status::success);
}

}  // namespace omx::protocol
