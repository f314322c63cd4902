// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/connect_start.h"

#include <algorithm>

#include "base/mac.h"
#include "protocol/actions/completion.h"
#include "protocol/actions/connect_tx.h"
#include "protocol/actions/resend_timer.h"
#include "protocol/state/generations.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/request.h"
#include "protocol/state/requests.h"
#include "protocol/state/state.h"

namespace omx::protocol {

Expected<Request*, OpError> connect_start(State& s, NicId nic, std::uint8_t endpoint, std::uint32_t key,
                                          std::uint64_t match_info, void* context, bool forgotten,
                                          bool hidden, std::uint32_t shunned) {
  if (endpoint >= s.config.max_endpoints) return tl::make_unexpected(OpError::bad_endpoint_id);
  Peer* p = peer_find(s, nic, endpoint);
  if (!p) p = peer_create(s, nic, endpoint);
  Request* r = p ? request_create(s, RequestKind::connect) : nullptr;
  if (!r) return tl::make_unexpected(OpError::no_resources);
  r->peer = p;
  r->match_info = match_info;
  r->context = context;
  r->user_gone = forgotten;
  r->hidden = hidden;
  r->key = key;
  r->shunned = shunned;
  r->timeout = std::min(r->timeout, s.config.reliability.connect_timeout);
  Request* const handle = forgotten ? nullptr : r;
  if (p->self) {  // at once, and without checking the key (docs/spec/protocol.md 3.1)
    r->session = s.config.session;
    r->conversation = p->session.conversation;
    request_finish(s, *r, Status::success);
    return handle;
  }
  if (p->tx.connects.empty() && !p->liveness.ping_pending) p->counting.acked_since_asked = 0;
  r->connect_seqnum = p->session.connect_seqnum++;
  r->phase = Phase::connecting;
  r->first_sent = s.now;
  p->tx.connects.push_back(*r);
  connect_transmit(s, *r);
  retransmit_arm(s, *p);
  return handle;
}

void connect_renumber(State& s, Peer& p, const Request& r) {
  const bool last = p.tx.connects.empty() || (p.tx.connects.front() == &r && p.tx.connects.back() == &r);
  if (s.config.extension && !p.connected() && last) peer_renumber(p);
}

void connect_in_vain(State& s, Peer& p, const Request& r) {
  connect_renumber(s, p, r);
  if (p.liveness.last_heard <= r.first_sent) s.peers.silent = &p;
}

}  // namespace omx::protocol
