// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/multi_receives.h"

#include <algorithm>
#include <cassert>

#include "protocol/state/multi_receive.h"
#include "protocol/state/request.h"
#include "protocol/state/requests.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

void multi_receive_retire(State& s, MultiReceive& m) {
  assert(!m.retired);
  m.retired = true;
  s.matching.posted.remove(*m.posted);
  m.posted->queue.unlink();  // no longer awaited
  m.posted->phase = Phase::finished;
}

bool multi_receive_begin(State& s, Request& posted, std::uint32_t least) {
  MultiReceive* m = s.memory.multi_receives.create();
  if (!m) return false;
  posted.rx.multi_receive = m;
  m->posted = &posted;
  m->least = least;
  // The spare request exists before it is needed, because a message that was matched must not fail for lack
  // of one.
  m->spare = request_create(s, RequestKind::receive);
  if (m->spare) return true;
  posted.rx.multi_receive = nullptr;
  s.memory.multi_receives.destroy(m);
  return false;
}

Request* multi_receive_take(State& s, Request& posted, std::uint32_t msg_length) {
  assert(posted.rx.multi_receive);
  assert(!posted.rx.multi_receive->retired);
  MultiReceive& m = *posted.rx.multi_receive;
  Request* r = m.spare;
  const Segment& whole = posted.segments.span().front();
  const Segment rest{whole.base + m.used, whole.length - m.used};
  r->segments.assign({&rest, 1}, s.memory.segment_lists);  // one segment needs no memory
  r->context = posted.context;
  r->message_class = posted.message_class;
  r->user_gone = posted.user_gone;
  r->rx.multi_receive = &m;
  m.running++;
  m.used += std::min(msg_length, rest.length);
  m.spare = whole.length - m.used >= m.least ? request_create(s, RequestKind::receive) : nullptr;
  if (!m.spare) multi_receive_retire(s, m);
  return r;
}

void multi_receive_free(State& s, Request& posted) {
  MultiReceive* m = posted.rx.multi_receive;
  if (m->spare) s.memory.requests.destroy(m->spare);
  s.memory.multi_receives.destroy(m);
}

}  // namespace omx::protocol
