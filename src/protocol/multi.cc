// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/multi.h"

#include <algorithm>

#include "protocol/state.h"

namespace omx::protocol {

namespace {

void retire(State& s, MultiReceive& m) {
  m.retired = true;
  s.posted.remove(*m.posted);
  m.posted->queue.unlink();  // no longer awaited
  m.posted->phase = Phase::finished;
}

void finish(State& s, MultiReceive& m) {
  m.posted->released = true;
  request_finish(s, *m.posted, m.end);
}

}  // namespace

bool multi_begin(State& s, Request& posted, std::uint32_t least) {
  MultiReceive* m = s.multis.create();
  if (!m) return false;
  posted.multi = m;
  m->posted = &posted;
  m->least = least;
  // Before it is needed: a message that was matched must not fail for it.
  m->spare = request_create(s, RequestKind::receive);
  if (m->spare) return true;
  posted.multi = nullptr;
  s.multis.destroy(m);
  return false;
}

Request* multi_take(State& s, Request& posted, std::uint32_t msg_length) {
  MultiReceive& m = *posted.multi;
  Request* r = m.spare;
  const Segment& whole = posted.segments.span().front();
  const Segment rest{whole.base + m.used, whole.length - m.used};
  r->segments.assign({&rest, 1}, s.segment_lists);  // one segment needs no memory
  r->context = posted.context;
  r->message_class = posted.message_class;
  r->user_gone = posted.user_gone;
  r->multi = &m;
  m.running++;
  m.used += std::min(msg_length, rest.length);
  m.spare = whole.length - m.used >= m.least ? request_create(s, RequestKind::receive) : nullptr;
  if (!m.spare) retire(s, m);
  return r;
}

void multi_ended(State& s, Request& r) {
  MultiReceive& m = *r.multi;
  r.multi = nullptr;
  m.running--;
  if (!m.retired || m.running > 0) return;
  if (m.end != Status::pending) return finish(s, m);
  r.released = true;
  m.posted->user_gone = true;  // the application hears of its messages only
  request_finish(s, *m.posted, Status::success);
}

void multi_end(State& s, Request& posted, Status status) {
  MultiReceive& m = *posted.multi;
  retire(s, m);
  m.end = status;
  if (m.running == 0) finish(s, m);
}

void multi_free(State& s, Request& posted) {
  MultiReceive* m = posted.multi;
  if (m->spare) s.requests.destroy(m->spare);
  s.multis.destroy(m);
}

}  // namespace omx::protocol
