// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/arrivals.h"

#include <algorithm>
#include <cassert>

#include "protocol/counters.h"
#include "protocol/history.h"
#include "protocol/observer.h"
#include "protocol/state/history_note.h"
#include "protocol/state/matching.h"
#include "protocol/state/multi_receives.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/room.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

Unexpected* unexpected_create(State& s, Peer& p, const wire::Message& m, std::uint32_t msg_length,
                              bool with_data) {
  Unexpected* u = s.memory.unexpected_slab.create();
  if (!u) return nullptr;
  if (with_data && msg_length > 0) {
    u->buffer = s.memory.buffers.get(msg_length);
    if (!u->buffer) {
      s.memory.unexpected_slab.destroy(u);
      return nullptr;
    }
  }
  u->peer = &p;
  u->session = p.reply_session();
  u->conversation = p.session.conversation;
  u->match_info = m.match_info;
  u->msg_length = msg_length;
  if (m.flags & wire::kFlagHeaderExt) {
    u->message_class = m.ext.message_class;
    u->has_data = m.ext.data_valid != 0;
    u->data = m.ext.data;
  }
  p.rx.unexpected_bytes += u->bytes();
  return u;
}

void unexpected_free(State& s, Unexpected& u) {
  if (!u.self_send) u.peer->rx.unexpected_bytes -= u.bytes();
  if (u.rendezvous || u.failed != Status::success) {  // without data
    s.room.envelopes--;
    u.peer->rx.envelopes--;
  }
  s.memory.buffers.put(u.buffer, u.msg_length);
  s.memory.unexpected_slab.destroy(&u);
  room_left(s);
}

Request* arrival_take(State& s, const Peer& from, std::uint64_t match_info, std::uint8_t message_class,
                      std::uint32_t msg_length) {
  Request* receive = s.matching.posted.find(match_info, &from, from.reply_session(), message_class);
  return receive ? &arrival_matched(s, from, match_info, msg_length, *receive) : nullptr;
}

Request& arrival_matched(State& s, const Peer& from, std::uint64_t match_info, std::uint32_t msg_length,
                         Request& found) {
  Request* receive = &found;
  if (found.rx.multi_receive) [[unlikely]]
    receive = multi_receive_take(s, found, msg_length);
  else
    s.matching.posted.remove(found);
  receive->queue.unlink();  // no longer awaited
  history_note(s, Happened::matched, &from, match_info, msg_length, from.counting.next_match);
  if (s.config.observer) [[unlikely]]
    s.config.observer->on_arrival(from, match_info, receive);
  return *receive;
}

void arrival_keep(State& s, Unexpected& u) {
  s.count(Counter::unexpected)++;
  s.matching.unexpected.add(u);
  history_note(s, Happened::unexpected, u.peer, u.match_info, u.msg_length, u.peer->counting.next_match);
  if (s.config.observer) [[unlikely]]
    s.config.observer->on_arrival(*u.peer, u.match_info, nullptr);
}

void arrival_drop(State& s, Unexpected& u) {
  s.matching.unexpected.remove(u);
  if (s.config.observer) [[unlikely]]
    s.config.observer->on_dropped(*u.peer, u.match_info);
}

std::byte* partial_place(const Partial& partial, std::uint32_t offset, std::uint32_t length) {
  if (partial.unexpected) return partial.unexpected->buffer + offset;
  Request* r = partial.request;
  return r && offset + length <= r->xfer_length ? r->segments.piece(offset, length) : nullptr;
}

Unexpected* message_claim(State& s, std::uint64_t match_info, std::uint64_t match_mask, const Peer* source,
                          std::uint32_t session, std::uint8_t message_class) {
  Unexpected* u = s.matching.unexpected.find(match_info, match_mask, source, session, message_class);
  // A message that is still arriving may be given up by its sender. It is next in line all the same.
  if (!u || !(u->complete || u->rendezvous)) return nullptr;
  s.matching.unexpected.remove(*u);
  s.matching.claimed.push_back(*u);
  return u;
}

void receive_matched(Request& r, Peer* p, std::uint32_t session, std::uint64_t match_info,
                     std::uint32_t msg_length, bool has_data, std::uint64_t data) {
  assert(r.kind == RequestKind::receive);
  assert(!r.user_done);
  r.phase = Phase::matched;
  r.peer = p;
  r.session = session;
  r.conversation = p ? p->session.conversation : 0;
  r.match_info = match_info;
  r.msg_length = msg_length;
  r.xfer_length = static_cast<std::uint32_t>(std::min<std::uint64_t>(msg_length, r.segments.length()));
  r.has_data = has_data;
  r.data = data;
}

void receive_count(State& s, const Request& r) {
  s.count(Counter::messages_received)++;
  s.count(Counter::bytes_received) += r.xfer_length;
  if (!r.peer) return;
  r.peer->figures.messages_received++;
  r.peer->figures.bytes_received += r.xfer_length;
  if (!r.peer->inside_host()) return;
  s.count(Counter::messages_received_local)++;
  s.count(Counter::bytes_received_local) += r.xfer_length;
}

}  // namespace omx::protocol
