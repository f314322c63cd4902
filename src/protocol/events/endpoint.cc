// SPDX-License-Identifier: BSD-3-Clause
// The public functions of the engine. endpoint.h says what each one does.
#include "protocol/endpoint.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/expected.h"
#include "base/mac.h"
#include "protocol/actions/coalesce.h"
#include "protocol/actions/completion.h"
#include "protocol/actions/connect_start.h"
#include "protocol/actions/deliver.h"
#include "protocol/actions/pull_run.h"
#include "protocol/actions/pull_schedule.h"
#include "protocol/actions/self.h"
#include "protocol/config.h"
#include "protocol/counters.h"
#include "protocol/events/cleanup.h"
#include "protocol/events/connect.h"
#include "protocol/events/lifetime.h"
#include "protocol/events/receive.h"
#include "protocol/events/reorder_drain.h"
#include "protocol/events/send_start.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/request.h"
#include "protocol/state/running_time.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "protocol/types.h"
#include "wire/codec.h"
#include "wire/frame_io.h"
#include "wire/packets.h"

namespace omx::protocol {

Endpoint::Endpoint(const Config& config, wire::FrameSink& sink, Counters& counters)
    : Endpoint(std::make_unique<State>(config, sink, counters)) {
  engine_open(*state_);
}

Endpoint::Endpoint(std::unique_ptr<State> state)
    : EndpointCompletions(*state), EndpointDriving(*state), EndpointFacts(*state), state_(std::move(state)) {}

Endpoint::~Endpoint() {
  engine_close(*state_);
}

const Config& Endpoint::config() const {
  return state_->config;
}

Expected<Request*, OpError> Endpoint::connect(TimeNs now, NicId nic, std::uint8_t endpoint, std::uint32_t key,
                                              std::uint64_t match_info, void* context, bool forgotten,
                                              bool hidden, std::uint32_t shunned) {
  time_enter(*state_, now);
  return connect_start(*state_, nic, endpoint, key, match_info, context, forgotten, hidden, shunned);
}

Expected<Request*, OpError> Endpoint::send(TimeNs now, const SendOp& op) {
  time_enter(*state_, now);
  return send_start(*state_, op);
}

Expected<Request*, OpError> Endpoint::receive(TimeNs now, const ReceiveOp& op) {
  time_enter(*state_, now);
  return receive_start(*state_, op);
}

namespace {

// Returns false if it is too late to cancel the request.
bool withdraw(State& s, Request& r, bool complete) {
  if (r.user_done) return false;
  if (r.phase == Phase::posted && r.rx.multi_receive) {
    if (!complete) r.user_gone = true;
    multi_receive_end(s, r, Status::cancelled);
    return true;
  }
  if (r.phase == Phase::posted) {
    s.matching.posted.remove(r);
    r.queue.unlink();
  } else if (r.phase == Phase::connecting) {
    r.queue.unlink();
    connect_in_vain(s, *r.peer, r);
  } else
    return false;  // a message is arriving for it
  if (!complete) r.user_gone = true;
  r.phase = Phase::finished;
  request_finish(s, r, Status::cancelled);
  return true;
}

}  // namespace

Expected<bool, OpError> Endpoint::cancel(Request* request, bool complete) {
  if (!held(request) || request->kind == RequestKind::send) return tl::make_unexpected(OpError::bad_request);
  return withdraw(*state_, *request, complete);
}

bool Endpoint::forget(Request* request) {
  if (!held(request)) return false;
  request_user_gone(*state_, *request);
  return true;
}

void Endpoint::disconnect(TimeNs now, Peer* peer) {
  time_enter(*state_, now);
  if (peer->self) return;
  coalesce_release(*state_);  // the application believes that these are sent
  peer_cleanup(*state_, *peer, Cleanup::disconnected);
  // The context survives a reconnection but not a disconnect (docs/spec/mx-api.md 4.4).
  peer->context = nullptr;
}

bool Endpoint::set_timeout(Request* request, TimeNs timeout) {
  State& s = *state_;
  const bool many = request ? request->kind != RequestKind::connect : s.memory.requests.live() > 0;
  s.timeouts_differ |= many && timeout != s.default_timeout;
  if (!request) {
    s.default_timeout = timeout;
    return true;
  }
  if (!held(request)) return false;
  request->timeout = timeout;
  // The timer may be set to a time after the new limit.
  if (request->peer && request->phase != Phase::posted && timeout != kNever && !request->peer->self)
    s.timers.arm_by(request->peer->resend_timer, s.now + timeout / 4);
  if (request->rx.pull && request->rx.pull->handle && timeout != kNever)
    s.timers.arm_by(request->rx.pull->timer, s.now + timeout);
  return true;
}

void Endpoint::deliveries_end() {
  state_->matching.handler = nullptr;
  State& s = *state_;
  while (Request* r = s.matching.posted.any()) withdraw(s, *r, false);
  s.closing = true;  // keeps waiting pulls from starting
  for (Peer* p : s.peers.by_index) {
    partial_abandon(s, *p, Status::aborted);
    pulls_fail(s, *p, Status::aborted);
  }
  s.closing = false;
}

void Endpoint::set_unexpected_handler(UnexpectedHandler handler, void* context) {
  state_->matching.handler = handler;
  state_->matching.handler_context = context;
}

Peer* Endpoint::peer(NicId nic, std::uint8_t endpoint) {
  Peer* p = peer_find(*state_, nic, endpoint);
  return p ? p : peer_create(*state_, nic, endpoint);
}

void Endpoint::set_mtu(TimeNs now, std::uint32_t mtu) {
  State& s = *state_;
  time_enter(s, now);
  coalesce_release(s);
  s.config.mtu = std::clamp(mtu, kMtuLeast, kMtuMost);
  const std::uint32_t before = s.own_frame;
  s.own_frame = s.config.mtu + static_cast<std::uint32_t>(wire::kEthernetHeader);
  bulk_resize(s, before);
  for (Peer* p : s.peers.by_index) {
    if (p->agreed.intra_node_frame) continue;
    if (p->agreed.extended && p->agreed.frame_agreed > s.own_frame) p->agreed.frame_agreed = s.own_frame;
    p->agreed.frame_max = std::min(p->agreed.frame_max, p->agreed.frame_agreed);
    p->agreed.frame_in = std::min(p->agreed.frame_in, p->agreed.frame_agreed);
    if (p->liveness.probe_size > p->agreed.frame_agreed) p->liveness.probe_size = 0;
    peer_update_sizes(s, *p);
    peer_sizes_check(s, *p);
  }
}

void Endpoint::set_bulk_pulls(bool allowed) {
  state_->config.bulk.pulls = allowed;
}

void Endpoint::peer_gone(TimeNs now, NicId nic, std::uint8_t endpoint) {
  time_enter(*state_, now);
  Peer* p = peer_find(*state_, nic, endpoint);
  if (p && p->connected()) peer_cleanup(*state_, *p, Cleanup::refused, Status::endpoint_closed);
}

void Endpoint::peer_unreachable(TimeNs now, NicId nic, std::uint8_t endpoint) {
  time_enter(*state_, now);
  Peer* p = peer_find(*state_, nic, endpoint);
  if (p) peer_cleanup(*state_, *p, Cleanup::given_up);
}

bool Endpoint::connect_refused(TimeNs now, wire::Frame frame) {
  time_enter(*state_, now);
  return protocol::connect_refused(*state_, frame);
}

void Endpoint::suspend(TimeNs now, bool suspended) {
  State& s = *state_;
  time_enter(s, now);
  s.suspended = suspended;
  for (std::size_t i = 0; i < s.peers.by_index.size() && !s.suspended; i++)
    reorder_drain(s, *s.peers.by_index[i]);
  self_pump(s);
}

void Endpoint::set_sleeping(TimeNs now, bool sleeping) {
  State& s = *state_;
  time_enter(s, now);
  s.pulling.sleeping = sleeping;
  if (sleeping) pulls_ask(s);
}

}  // namespace omx::protocol
