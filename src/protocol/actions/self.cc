// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/self.h"

#include <cassert>

#include "protocol/actions/completion.h"
#include "protocol/actions/handler.h"
#include "protocol/state/arrivals.h"
#include "protocol/state/matching.h"
#include "protocol/state/request.h"
#include "protocol/state/segments.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

namespace {

void transfer(State& s, Request& send, Request& receive, const std::byte* copy) {
  receive_matched(receive, s.peers.myself, s.config.session, send.match_info, send.msg_length, send.has_data,
                  send.data);
  if (copy)
    receive.segments.write(0, copy, receive.xfer_length);
  else
    segments_copy(send.segments, receive.segments, receive.xfer_length);
  const Status status = receive.xfer_length < receive.msg_length ? Status::truncated : Status::success;
  // The sender of a short message to another endpoint does not learn that it was truncated.
  const bool tells =
      !s.config.self_as_others || send.tx.synchronous || send.msg_length > s.config.rndv_threshold;
  send.xfer_length = tells ? receive.xfer_length : send.msg_length;
  receive_complete(s, receive);
  request_finish(s, send, tells ? status : Status::success);
}

void self_deliver(State& s, Request& r) {
  r.phase = Phase::self_waiting;
  if (Request* receive = arrival_take(s, *s.peers.myself, r.match_info, r.message_class, r.msg_length))
    return transfer(s, r, *receive, nullptr);
  if (s.matching.handler) {
    const auto pieces = r.segments.span();
    const std::byte* data = pieces.size() == 1 ? pieces[0].base : nullptr;
    const Arrival arrival{s.peers.myself, s.config.session, s.peers.myself->session.conversation,
                          r.match_info,   r.msg_length,     data};
    if (handler_call(s, arrival) == HandlerAction::finished) {
      // This ends as a large message does whose receiver does not want the data.
      const bool synchronous_data = r.tx.synchronous && r.msg_length > 0;
      r.xfer_length = synchronous_data ? 0 : r.msg_length;
      return request_finish(s, r, synchronous_data ? Status::truncated : Status::success);
    }
    if (Request* receive = arrival_take(s, *s.peers.myself, r.match_info, r.message_class, r.msg_length))
      return transfer(s, r, *receive, nullptr);
  }
  const bool room = s.room_for_unexpected(r.msg_length);
  Unexpected* u = s.memory.unexpected_slab.create();
  if (!u) return request_finish(s, r, Status::no_resources);
  u->peer = s.peers.myself;
  u->session = s.config.session;
  u->conversation = s.peers.myself->session.conversation;
  u->match_info = r.match_info;
  u->msg_length = r.msg_length;
  u->message_class = r.message_class;
  u->has_data = r.has_data;
  u->data = r.data;
  u->complete = true;
  u->self_send = &r;
  // Short data are copied so that the user may have the memory back (ibuffered). Long data are copied once,
  // when they are received.
  if (r.msg_length > 0 && r.msg_length <= s.config.rndv_threshold && room)
    u->buffer = s.memory.buffers.get(r.msg_length);
  if (u->buffer) r.segments.read(0, u->buffer, r.msg_length);
  r.tx.buffered = u->buffer != nullptr || r.msg_length == 0;
  if (s.config.self_as_others && r.tx.buffered && !r.tx.synchronous) {
    u->self_send = nullptr;
    s.peers.myself->rx.unexpected_bytes += u->bytes();
    r.xfer_length = r.msg_length;
    request_finish(s, r, Status::success);
  }
  arrival_keep(s, *u);
}

}  // namespace

void self_send(State& s, Request& r) {
  assert(r.peer == s.peers.myself);
  r.session = s.config.session;
  // Messages of this endpoint to itself arrive, too. They do not arrive while delivery is suspended
  // (docs/spec/mx-clients.md 24), nor ahead of those that wait.
  if (!s.suspended && s.peers.myself->tx.queued.empty()) return self_deliver(s, r);
  r.phase = Phase::queued;
  s.peers.myself->tx.queued.push_back(r);
}

void self_pump(State& s) {
  while (!s.suspended) {
    Request* const r = s.peers.myself->tx.queued.pop_front();
    if (!r) return;
    self_deliver(s, *r);
  }
}

void self_match(State& s, Request& receive, Unexpected& u) {
  assert(u.self_send);
  Request& send = *u.self_send;
  transfer(s, send, receive, u.buffer);
  unexpected_free(s, u);
}

}  // namespace omx::protocol
