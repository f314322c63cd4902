// SPDX-License-Identifier: BSD-3-Clause
// The public functions of the engine for frames, time, and what is still owed.
#include "protocol/endpoint_driving.h"

#include <span>

#include "base/mac.h"
#include "protocol/actions/ack_tx.h"
#include "protocol/actions/coalesce.h"
#include "protocol/actions/coalesce_packets.h"
#include "protocol/actions/pull_share.h"
#include "protocol/actions/rails_tend.h"
#include "protocol/events/lone_received.h"
#include "protocol/events/pull_reply.h"
#include "protocol/events/rails_received.h"
#include "protocol/events/rx.h"
#include "protocol/events/rx_message.h"
#include "protocol/events/timers.h"
#include "protocol/state/bulk_awaited.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_expect.h"
#include "protocol/state/rails.h"
#include "protocol/state/regions.h"
#include "protocol/state/request.h"
#include "protocol/state/running_time.h"
#include "protocol/state/state.h"
#include "protocol/types.h"
#include "wire/codec.h"
#include "wire/packets.h"
#include "wire/udp_bulk.h"

namespace omx::protocol {

void EndpointDriving::on_frame(TimeNs now, wire::Frame frame) {
  time_enter(*state_, now);
  if (lone_received(*state_, frame)) return;
  const MayCoalescePackets may(*state_);
  rx_frame(*state_, frame);
}

void EndpointDriving::frames_marked(bool marked) {
  state_->marked = marked && state_->config.reliability.marks;
}

void EndpointDriving::on_frame_by(TimeNs now, unsigned rail, wire::Frame frame) {
  state_->rails.rx_rail = static_cast<std::uint8_t>(rail);
  on_frame(now, frame);
  state_->rails.rx_rail = 0;
}

void EndpointDriving::rail_carrier(TimeNs now, unsigned rail, bool up) {
  time_enter(*state_, now);
  protocol::rail_carrier(*state_, rail, up);
}

std::size_t EndpointDriving::expected_replies(std::span<ExpectedFrame> out, unsigned rail) {
  return pulls_expected(*state_, out, rail);
}

std::size_t EndpointDriving::expected_by_bulk(TimeNs now, std::span<ExpectedFrame> out) {
  time_enter(*state_, now);
  const std::size_t replies = pulls_expected(*state_, out, 0);
  return replies ? replies : medium_expected(*state_, out);
}

bool EndpointDriving::is_expected(const ExpectedFrame& expected, wire::Frame frame) {
  return expected.sender ? medium_is(*state_, expected, frame) : pull_reply_is(*state_, expected, frame);
}

void EndpointDriving::on_placed(TimeNs now, const ExpectedFrame& expected, wire::Frame frame, unsigned rail) {
  time_enter(*state_, now);
  state_->rails.rx_rail = static_cast<std::uint8_t>(rail);
  placed(expected, frame);
  state_->rails.rx_rail = 0;
}

void EndpointDriving::placed(const ExpectedFrame& expected, wire::Frame frame) {
  wire::Head head;
  if (wire::decode_head(frame, head) != wire::Drop::none) return;
  if (rails_used(*state_)) [[unlikely]]
    rails_source(*state_, head, frame);
  const MayCoalescePackets may(*state_);
  if (expected.sender)
    medium_placed(*state_, expected, head, frame);
  else
    pull_reply_placed(*state_, head, frame);
}

void EndpointDriving::progress(TimeNs now, bool more) {
  time_enter(*state_, now);
  {
    const MayCoalescePackets may(*state_);
    pulls_copied(*state_);
    if (!more) timers_run(*state_);
    ack_flush(*state_, false);
  }
  coalesce_release(*state_);
}

bool EndpointDriving::held_any() const {
  return state_->coalescing.peer != nullptr;
}

bool EndpointDriving::held_messages() const {
  return held_any() && !state_->coalescing.packets;
}

TimeNs EndpointDriving::held_since() const {
  return time_outside(*state_, state_->coalescing.began);
}

bool EndpointDriving::held_question() const {
  State& s = *state_;
  const Pull* const pull = s.coalescing.packets ? s.transfers.pull_list.front() : nullptr;
  return pull && s.coalescing.peer == pull->peer &&
         !s.transfers.pull_list.next(*s.transfers.pull_list.front());
}

void EndpointDriving::release(TimeNs now) {
  time_enter(*state_, now);
  coalesce_release(*state_);
  state_->sink.flush();
}

TimeNs EndpointDriving::next_deadline() const {
  return time_outside(*state_, state_->ack_now.empty() ? state_->timers.next() : state_->now);
}

TimeNs EndpointDriving::sleep_deadline(TimeNs now) {
  time_enter(*state_, now);
  timers_settle(*state_);
  return next_deadline();
}

void EndpointDriving::flush_acks(TimeNs now) {
  time_enter(*state_, now);
  coalesce_release(*state_);
  ack_flush(*state_, true);
}

bool EndpointDriving::drained() const {
  const State& s = *state_;
  if (s.completion.buffered_sends > 0) return false;
  // Forgotten sends are still owed to their receivers. So are sends whose data wait for their receives.
  for (Peer* p : s.peers.by_index)
    for (auto* list : {&p->tx.unacked, &p->tx.queued, &p->tx.await_notify})
      for (Request* r = list->front(); r; r = list->next(*r))
        if (r->tx.waits ? r->user_done : r->user_gone && r->send_class != SendClass::large) return false;
  return true;
}

bool EndpointDriving::bulk_seen() const {
  return state_->transfers.bulk_seen;
}

EndpointDriving::Pace EndpointDriving::pull_pace() const {
  return {state_->pulling.pace.bytes(), state_->pulling.pace.busy()};
}

bool EndpointDriving::copies_awaited() const {
  return !state_->transfers.pull_copying.empty();
}

bool EndpointDriving::pulls_by_link() const {
  return state_->transfers.pulls_by_link;
}

bool EndpointDriving::pulls_running() const {
  return !state_->transfers.pull_list.empty() || sharing();
}

bool EndpointDriving::bulk_awaited(TimeNs now) {
  return protocol::bulk_awaited(*state_, now - state_->absent);
}

bool EndpointDriving::bulk_wanted(TimeNs now) {
  return state_->transfers.pulls_by_bulk || protocol::bulk_awaited(*state_, now - state_->absent);
}

bool EndpointDriving::sharing() const {
  return !state_->transfers.pull_sharing.empty();
}

void EndpointDriving::share_begin(TimeNs now) {
  time_enter(*state_, now);
  protocol::share_begin(*state_);
}

bool EndpointDriving::share_asked() const {
  return state_->transfers.pull_sharing.front()->asks;
}

void EndpointDriving::share_step(TimeNs now) {
  time_enter(*state_, now);
  protocol::share_step(*state_);
}

bool EndpointDriving::bulk_expected() const {
  const EngineTransfers& transfers = state_->transfers;
  return transfers.pulls_by_bulk || transfers.pulls_by_link || state_->bulk.awaited.until > 0;
}

void EndpointDriving::bulk_came() {
  protocol::bulk_came(*state_);
}

wire::FrameSender EndpointDriving::bulk_sender(const wire::BulkAddress& from) const {
  return bulk_owner(*state_, from);
}

RegionMemory EndpointDriving::region(std::uint8_t number, std::uint8_t generation) const {
  const Region* const region = state_->regions.find(number, generation);
  if (!region) return {};
  return {region->place, region->owner->segments.span()};
}

}  // namespace omx::protocol
