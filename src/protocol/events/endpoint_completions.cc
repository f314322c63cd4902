// SPDX-License-Identifier: BSD-3-Clause
// The public functions of the engine that report on requests, messages and peers.
#include "protocol/endpoint_completions.h"

#include <cassert>
#include <optional>
#include <utility>

#include "base/expected.h"
#include "protocol/actions/completion.h"
#include "protocol/actions/send.h"
#include "protocol/actions/watch.h"
#include "protocol/events/receive.h"
#include "protocol/state/arrivals.h"
#include "protocol/state/matching.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/requests.h"
#include "protocol/state/running_time.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

bool EndpointCompletions::held(const Request* request) const {
  return request_held(*state_, request);
}

bool EndpointCompletions::done(const Request* request) const {
  return request->user_done;
}

void EndpointCompletions::consume(Request* request, Completion& c) {
  const Request& r = *request;
  assert(r.user_done && !r.user_gone);
  c.kind = r.kind;
  c.status = r.status;
  c.peer = r.peer;
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
  c.released = r.rx.released;
  request_user_gone(*state_, *request);
}

Request* EndpointCompletions::find_done(std::uint64_t match_info, std::uint64_t match_mask) {
  State& s = *state_;
  const auto matches = [&](const Request& r) { return (r.match_info & match_mask) == match_info; };
  if (s.config.context_bits > 0) {
    const std::uint64_t field = ((std::uint64_t{1} << s.config.context_bits) - 1) << s.config.context_shift;
    if ((match_mask & field) == field) {
      auto& list = *s.completion.done_by_context[context_id(s, match_info)];
      for (Request* r = list.front(); r; r = list.next(*r))
        if (matches(*r)) return r;
      return nullptr;
    }
  }
  for (Request* r = s.completion.done.front(); r; r = s.completion.done.next(*r))
    if (matches(*r)) return r;
  return nullptr;
}

Request* EndpointCompletions::peek_done() {
  return state_->completion.done.front();
}

void* EndpointCompletions::context_of(const Request* request) const {
  return request->context;
}

RequestKind EndpointCompletions::kind_of(const Request* request) const {
  return request->kind;
}

Expected<bool, OpError> EndpointCompletions::buffered(const Request* request) const {
  if (!held(request) || request->kind != RequestKind::send) return tl::make_unexpected(OpError::bad_request);
  return request->tx.buffered || request->user_done;
}

Status EndpointCompletions::watch(TimeNs now, const ReceiveOp& op) {
  time_enter(*state_, now);
  return watch_probe(*state_, op);
}

std::optional<Arrival> EndpointCompletions::probe(std::uint64_t match_info, std::uint64_t match_mask,
                                                  const Peer* source, std::uint8_t message_class,
                                                  std::uint32_t session) {
  const Unexpected* u =
      state_->matching.unexpected.find(match_info, match_mask, source, session, message_class);
  if (!u) return std::nullopt;
  return Arrival{u->peer,
                 u->session,
                 u->conversation,
                 u->match_info,
                 u->msg_length,
                 u->complete ? u->buffer : nullptr,
                 u->complete || u->rendezvous,
                 u->has_data,
                 u->data};
}

Unexpected* EndpointCompletions::claim(std::uint64_t match_info, std::uint64_t match_mask, const Peer* source,
                                       std::uint8_t message_class, std::uint32_t session) {
  return message_claim(*state_, match_info, match_mask, source, session, message_class);
}

Expected<Request*, OpError> EndpointCompletions::receive_claimed(TimeNs now, Unexpected* message,
                                                                 const ReceiveOp& op) {
  time_enter(*state_, now);
  return claimed_receive(*state_, *message, op);
}

bool EndpointCompletions::discard(TimeNs now, Unexpected* message) {
  time_enter(*state_, now);
  return claimed_discard(*state_, *message);
}

bool EndpointCompletions::unexpected_empty() const {
  return state_->matching.unexpected.size() == 0;
}

std::uint64_t EndpointCompletions::completion_count() const {
  return state_->completion.completions;
}

bool EndpointCompletions::copy_owed() const {
  return state_->completion.uncopied != nullptr;
}

void EndpointCompletions::copy_make(TimeNs now) {
  time_enter(*state_, now);
  if (state_->completion.uncopied) send_copy(*state_);
}

TimeNs EndpointCompletions::silent_since(Peer* peer) const {
  const Request* const oldest = peer->tx.connects.front();
  const bool silent = oldest && peer->liveness.last_heard <= oldest->first_sent;
  return silent ? time_outside(*state_, oldest->first_sent) : kNever;
}

bool EndpointCompletions::news() const {
  return !state_->reports.news.empty() || !state_->completion.lost.empty();
}

std::optional<PeerNews> EndpointCompletions::news_take() {
  State& s = *state_;
  if (s.reports.news.empty()) return std::nullopt;
  const PeerNews oldest = s.reports.news.front();
  s.reports.news.pop_front();
  return oldest;
}

std::optional<LostMessage> EndpointCompletions::lost_take() {
  State& s = *state_;
  Request* const r = s.completion.lost.pop_front();
  if (!r) return std::nullopt;
  const LostMessage lost{r->peer, r->status, r->match_info, r->msg_length, r->message_class};
  request_user_gone(s, *r);
  return lost;
}

Peer* EndpointCompletions::silent_take() {
  return std::exchange(state_->peers.silent, nullptr);
}

HeldUp EndpointCompletions::held_up_take() {
  return std::exchange(state_->room.held_up, {});
}

std::uint32_t EndpointCompletions::awaiting_receives() const {
  return state_->room.awaiting;
}

}  // namespace omx::protocol
