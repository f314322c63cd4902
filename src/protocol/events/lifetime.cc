// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/lifetime.h"

#include <algorithm>
#include <memory>
#include <new>

#include "base/list.h"
#include "protocol/actions/completion.h"
#include "protocol/config.h"
#include "protocol/events/cleanup.h"
#include "protocol/history.h"
#include "protocol/observer.h"
#include "protocol/state/arrivals.h"
#include "protocol/state/eager_window.h"
#include "protocol/state/matching.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/pull_window.h"
#include "protocol/state/request.h"
#include "protocol/state/room.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::protocol {

void claimed_drop_all(State& s) {
  while (Unexpected* u = s.matching.claimed.pop_front()) {
    if (u->self_send) request_finish(s, *u->self_send, Status::aborted);
    unexpected_free(s, *u);
  }
}

void engine_open(State& s) {
  const Config& c = s.config;
  s.config.mtu = std::clamp(c.mtu, kMtuLeast, kMtuMost);
  s.own_frame = c.mtu + static_cast<std::uint32_t>(wire::kEthernetHeader);
  pulls_init(s);
  s.marks_forgone = !c.reliability.marks;
  if (s.marks_forgone) s.sink.marks_forgo();
  if (c.context_bits > 0)
    for (std::uint32_t i = 0; i < (1U << c.context_bits); i++)
      s.completion.done_by_context.push_back(std::make_unique<List<Request, &Request::done_context>>());
  s.peers.myself = peer_create(s, c.nic, c.endpoint);
  // An endpoint is never without itself. The caller reports the lack of memory.
  if (!s.peers.myself) throw std::bad_alloc();
  s.peers.myself->self = true;
  s.peers.myself->session.true_session = s.peers.myself->session.back_session = c.session;
  s.peers.myself->counting.next_send = s.peers.myself->counting.next_acked = kSeqFirst;
}

void engine_close(State& s) {
  s.closing = true;
  s.matching.handler = nullptr;
  s.config.observer = nullptr;
  s.config.history = nullptr;
  for (Peer* p : s.peers.by_index) {
    peer_cleanup(s, *p, Cleanup::disconnected);
    s.timers.cancel(p->ack_timer);
    s.timers.cancel(p->resend_timer);
  }
  claimed_drop_all(s);
  while (Request* r = s.matching.posted.any()) {
    s.matching.posted.remove(*r);
    r->queue.unlink();  // the receive may wait for an instance that never came
    request_finish(s, *r, Status::aborted);
  }
  while (Unexpected* u = s.matching.unexpected.front()) {
    s.matching.unexpected.remove(*u);
    if (u->self_send) request_finish(s, *u->self_send, Status::aborted);
    unexpected_free(s, *u);
  }
  while (Request* r = s.completion.lost.pop_front()) request_user_gone(s, *r);
  while (Request* r = s.completion.done.front()) request_user_gone(s, *r);
  room_return(s);
  for (Peer* p : s.peers.by_index) eager_end(s, *p);
}

}  // namespace omx::protocol
