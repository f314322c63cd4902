// SPDX-License-Identifier: BSD-3-Clause
// The engine's face: see endpoint.h for the contract of each function.
#include "protocol/endpoint.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "protocol/claimed.h"
#include "protocol/running_time.h"
#include "protocol/snapshot.h"
#include "protocol/state.h"
#include "protocol/watch.h"

namespace omx::protocol {

Endpoint::Endpoint(const Config& config, wire::FrameSink& sink, Counters& counters)
    : state_(std::make_unique<State>(config, sink, counters)) {}

Endpoint::~Endpoint() = default;

const Config& Endpoint::config() const {
  return state_->config;
}

// --- operations --------------------------------------------------------------------------------------------

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

// False: too late.
bool withdraw(State& s, Request& r, bool complete) {
  if (r.user_done) return false;
  if (r.phase == Phase::posted && r.multi) {
    if (!complete) r.user_gone = true;
    multi_end(s, r, Status::cancelled);
    return true;
  }
  if (r.phase == Phase::posted) {
    s.posted.remove(r);
    r.queue.unlink();
  } else if (r.phase == Phase::connecting) {
    r.queue.unlink();
    connect_in_vain(s, *r.partner, r);
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

void Endpoint::disconnect(TimeNs now, Partner* partner) {
  time_enter(*state_, now);
  if (partner->self) return;
  pack_release(*state_);  // these are sent as far as the application knows
  partner_cleanup(*state_, *partner, Cleanup::disconnected);
  partner->context = nullptr;  // survives reconnection, not this (docs/spec/mx-api.md 4.4)
}

void Endpoint::set_drowsy(TimeNs now, bool drowsy) {
  State& s = *state_;
  time_enter(s, now);
  s.pulling.drowsy = drowsy;
  if (drowsy) pulls_ask(s);
}

bool Endpoint::set_timeout(Request* request, TimeNs timeout) {
  State& s = *state_;
  const bool many = request ? request->kind != RequestKind::connect : s.requests.live() > 0;
  s.timeouts_differ |= many && timeout != s.default_timeout;
  if (!request) {
    s.default_timeout = timeout;
    return true;
  }
  if (!held(request)) return false;
  request->timeout = timeout;
  // The timer may sleep past the new limit.
  if (request->partner && request->phase != Phase::posted && timeout != kNever && !request->partner->self)
    s.timers.arm_by(request->partner->resend_timer, s.now + timeout / 4);
  if (request->pull && request->pull->handle && timeout != kNever)
    s.timers.arm_by(request->pull->timer, s.now + timeout);
  return true;
}

// --- completions -------------------------------------------------------------------------------------------

bool Endpoint::held(const Request* request) const {
  return request_held(*state_, request);
}

bool Endpoint::done(const Request* request) const {
  return request->user_done;
}

Completion Endpoint::consume(Request* request) {
  const Request& r = *request;
  assert(r.user_done && !r.user_gone);
  Completion c;
  c.kind = r.kind;
  c.status = r.status;
  c.partner = r.partner;
  c.session = r.session;
  c.conversation = r.conversation;
  c.match_info = r.match_info;
  c.msg_length = r.msg_length;
  c.xfer_length = r.xfer_length;
  c.context = r.context;
  c.has_data = r.has_data;
  c.message_class = r.message_class;
  c.data = r.data;
  if (r.kind == RequestKind::receive && r.segments.count() > 0) c.place = r.segments.span().front().base;
  c.released = r.released;
  request_user_gone(*state_, *request);
  return c;
}

Request* Endpoint::find_done(std::uint64_t match_info, std::uint64_t match_mask) {
  State& s = *state_;
  const auto matches = [&](const Request& r) { return (r.match_info & match_mask) == match_info; };
  if (s.config.context_bits > 0) {
    const std::uint64_t field = ((std::uint64_t{1} << s.config.context_bits) - 1) << s.config.context_shift;
    if ((match_mask & field) == field) {
      auto& list = *s.done_by_context[context_id(s, match_info)];
      for (Request* r = list.front(); r; r = list.next(*r))
        if (matches(*r)) return r;
      return nullptr;
    }
  }
  for (Request* r = s.done.front(); r; r = s.done.next(*r))
    if (matches(*r)) return r;
  return nullptr;
}

Request* Endpoint::peek_done() {
  return state_->done.front();
}

void* Endpoint::context_of(const Request* request) const {
  return request->context;
}

RequestKind Endpoint::kind_of(const Request* request) const {
  return request->kind;
}

Expected<bool, OpError> Endpoint::buffered(const Request* request) const {
  if (!held(request) || request->kind != RequestKind::send) return tl::make_unexpected(OpError::bad_request);
  return request->buffered || request->user_done;
}

Status Endpoint::watch(TimeNs now, const ReceiveOp& op) {
  time_enter(*state_, now);
  return watch_probe(*state_, op);
}

std::optional<Arrival> Endpoint::probe(std::uint64_t match_info, std::uint64_t match_mask,
                                       const Partner* source, std::uint8_t message_class,
                                       std::uint32_t session) {
  const Unexpected* u = state_->unexpected.find(match_info, match_mask, source, session, message_class);
  if (!u) return std::nullopt;
  return Arrival{u->partner,
                 u->session,
                 u->conversation,
                 u->match_info,
                 u->msg_length,
                 u->complete ? u->buffer : nullptr,
                 u->complete || u->rendezvous,
                 u->has_data,
                 u->data};
}

Unexpected* Endpoint::claim(std::uint64_t match_info, std::uint64_t match_mask, const Partner* source,
                            std::uint8_t message_class, std::uint32_t session) {
  return message_claim(*state_, match_info, match_mask, source, session, message_class);
}

Expected<Request*, OpError> Endpoint::receive_claimed(TimeNs now, Unexpected* message, const ReceiveOp& op) {
  time_enter(*state_, now);
  return claimed_receive(*state_, *message, op);
}

bool Endpoint::discard(TimeNs now, Unexpected* message) {
  time_enter(*state_, now);
  return claimed_discard(*state_, *message);
}

Partner* Endpoint::partner(NicId nic, std::uint8_t endpoint) {
  Partner* p = partner_find(*state_, nic, endpoint);
  return p ? p : partner_create(*state_, nic, endpoint);
}

bool Endpoint::bulk_seen() const {
  return state_->bulk_seen;
}

Endpoint::Pace Endpoint::pull_pace() const {
  return {state_->pulling.pace.bytes(), state_->pulling.pace.busy()};
}

void Endpoint::set_lane_pulls(bool allowed) {
  state_->config.lane_pulls = allowed;
}

bool Endpoint::copies_awaited() const {
  return !state_->pull_copying.empty();
}

bool Endpoint::pulls_by_link() const {
  return state_->pulls_by_link;
}

bool Endpoint::lane_awaited(TimeNs now) {
  return protocol::lane_awaited(*state_, now - state_->absent);
}

bool Endpoint::lane_wanted(TimeNs now) {
  return state_->pulls_by_lane || protocol::lane_awaited(*state_, now - state_->absent);
}

void Endpoint::lane_came() {
  protocol::lane_came(*state_);
}

NicId Endpoint::lane_sender(const wire::LaneAddress& from) const {
  return lane_owner(*state_, from);
}

bool Endpoint::pulls_running() const {
  return !state_->pull_list.empty();
}

bool Endpoint::unexpected_empty() const {
  return state_->unexpected.size() == 0;
}

std::uint64_t Endpoint::completion_count() const {
  return state_->completions;
}

void Endpoint::set_unexpected_handler(UnexpectedHandler handler, void* context) {
  state_->handler = handler;
  state_->handler_context = context;
}

// --- driving -----------------------------------------------------------------------------------------------

void Endpoint::on_frame(TimeNs now, wire::Frame frame) {
  time_enter(*state_, now);
  const Gathers may(*state_);
  rx_frame(*state_, frame);
}

std::size_t Endpoint::expected_replies(std::span<ExpectedFrame> out, unsigned rail) {
  return pulls_expected(*state_, out, rail);
}

std::size_t Endpoint::expected_by_lane(TimeNs now, std::span<ExpectedFrame> out) {
  time_enter(*state_, now);
  const std::size_t replies = pulls_expected(*state_, out, 0);
  return replies ? replies : medium_expected(*state_, out);
}

bool Endpoint::is_expected(const ExpectedFrame& expected, wire::Frame frame) {
  return expected.sender ? medium_is(*state_, expected, frame) : pull_reply_is(*state_, expected, frame);
}

void Endpoint::on_placed(TimeNs now, const ExpectedFrame& expected, wire::Frame frame, unsigned rail) {
  time_enter(*state_, now);
  state_->rx_rail = static_cast<std::uint8_t>(rail);
  placed(expected, frame);
  state_->rx_rail = 0;
}

void Endpoint::placed(const ExpectedFrame& expected, wire::Frame frame) {
  wire::Head head;
  if (wire::decode_head(frame, head) != wire::Drop::none) return;
  if (rails_used(*state_)) [[unlikely]]
    rails_source(*state_, head, frame);
  const Gathers may(*state_);
  if (expected.sender)
    medium_placed(*state_, expected, head, frame);
  else
    pull_reply_placed(*state_, head, frame);
}

void Endpoint::progress(TimeNs now, bool more) {
  time_enter(*state_, now);
  {
    const Gathers may(*state_);
    pulls_copied(*state_);
    if (!more) timers_run(*state_);
    ack_flush(*state_, false);
  }
  pack_release(*state_);
}

bool Endpoint::copy_owed() const {
  return state_->uncopied != nullptr;
}

void Endpoint::copy_make(TimeNs now) {
  time_enter(*state_, now);
  if (state_->uncopied) send_copy(*state_);
}

bool Endpoint::held() const {
  return state_->packing.partner != nullptr;
}

bool Endpoint::held_messages() const {
  return held() && !state_->packing.packets;
}

TimeNs Endpoint::held_since() const {
  return time_outside(*state_, state_->packing.began);
}

void Endpoint::suspend(TimeNs now, bool suspended) {
  State& s = *state_;
  time_enter(s, now);
  s.suspended = suspended;
  for (std::size_t i = 0; i < s.partners.size() && !s.suspended; i++) early_drain(s, *s.partners[i]);
  self_pump(s);
}

void Endpoint::release(TimeNs now) {
  time_enter(*state_, now);
  pack_release(*state_);
  state_->sink.flush();
}

TimeNs Endpoint::next_deadline() const {
  return time_outside(*state_, state_->ack_now.empty() ? state_->timers.next() : state_->now);
}

void Endpoint::set_mtu(TimeNs now, std::uint32_t mtu) {
  State& s = *state_;
  time_enter(s, now);
  pack_release(s);
  s.config.mtu = std::clamp(mtu, kMtuLeast, kMtuMost);
  const std::uint32_t before = s.own_frame;
  s.own_frame = s.config.mtu + static_cast<std::uint32_t>(wire::kEthernetHeader);
  lane_resize(s, before);
  for (Partner* p : s.partners) {
    if (p->near_frame) continue;
    if (p->extended && p->frame_agreed > s.own_frame) p->frame_agreed = s.own_frame;
    p->frame_max = std::min(p->frame_max, p->frame_agreed);
    p->frame_in = std::min(p->frame_in, p->frame_agreed);
    if (p->probe_size > p->frame_agreed) p->probe_size = 0;
    partner_update_sizes(s, *p);
    partner_sizes_check(s, *p);
  }
}

void Endpoint::deliveries_end() {
  state_->handler = nullptr;
  State& s = *state_;
  while (Request* r = s.posted.any()) withdraw(s, *r, false);
  s.closing = true;  // no others take their turn
  for (Partner* p : s.partners) {
    partial_abandon(s, *p, Status::aborted);
    pulls_fail(s, *p, Status::aborted);
  }
  s.closing = false;
}

void Endpoint::flush_acks(TimeNs now) {
  time_enter(*state_, now);
  pack_release(*state_);
  ack_flush(*state_, true);
}

bool Endpoint::drained() const {
  const State& s = *state_;
  if (s.zombies > 0) return false;
  // Sends that the application forgot are still owed to their receivers, and so are data that wait for them.
  for (Partner* p : s.partners)
    for (auto* list : {&p->unacked, &p->queued, &p->await_notify})
      for (Request* r = list->front(); r; r = list->next(*r))
        if (r->waits ? r->user_done : r->user_gone && r->send_class != SendClass::large) return false;
  return true;
}

void Endpoint::peer_gone(TimeNs now, NicId nic, std::uint8_t endpoint) {
  time_enter(*state_, now);
  Partner* p = partner_find(*state_, nic, endpoint);
  if (p && p->connected()) partner_cleanup(*state_, *p, Cleanup::refused, Status::endpoint_closed);
}

bool Endpoint::connect_refused(TimeNs now, wire::Frame frame) {
  time_enter(*state_, now);
  return protocol::connect_refused(*state_, frame);
}

TimeNs Endpoint::silent_since(Partner* partner) const {
  const Request* const oldest = partner->connects.front();
  const bool silent = oldest && partner->last_heard <= oldest->first_sent;
  return silent ? time_outside(*state_, oldest->first_sent) : kNever;
}

bool Endpoint::news() const {
  return !state_->news.empty() || !state_->lost.empty();
}

std::optional<PeerNews> Endpoint::news_take() {
  State& s = *state_;
  if (s.news.empty()) return std::nullopt;
  const PeerNews oldest = s.news.front();
  s.news.pop_front();
  return oldest;
}

std::optional<LostMessage> Endpoint::lost_take() {
  State& s = *state_;
  Request* const r = s.lost.pop_front();
  if (!r) return std::nullopt;
  const LostMessage lost{r->partner, r->status, r->match_info, r->msg_length, r->message_class};
  request_user_gone(s, *r);
  return lost;
}

Partner* Endpoint::silent_take() {
  return std::exchange(state_->silent, nullptr);
}

RegionMemory Endpoint::region(std::uint8_t number, std::uint8_t generation) const {
  const Region* const region = state_->regions.find(number, generation);
  if (!region) return {};
  return {region->place, region->owner->segments.span()};
}

}  // namespace omx::protocol
