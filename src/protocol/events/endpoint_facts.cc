// SPDX-License-Identifier: BSD-3-Clause
// The engine's face: what it says about its partners and itself.
#include "protocol/endpoint.h"

#include "base/mac.h"
#include "protocol/counters.h"
#include "protocol/snapshot.h"
#include "protocol/state/partner.h"
#include "protocol/state/peers.h"
#include "protocol/state/running_time.h"
#include "protocol/state/sizes.h"
#include "protocol/state/snapshot_take.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

Partner* Endpoint::self() {
  return state_->myself;
}

Partner* Endpoint::find_partner(NicId nic, std::uint8_t endpoint) {
  return partner_find(*state_, nic, endpoint);
}

Partner* Endpoint::partner_at(std::uint32_t index) {
  return index < state_->partners.size() ? state_->partners[index] : nullptr;
}

std::uint32_t Endpoint::partner_count() const {
  return static_cast<std::uint32_t>(state_->partners.size());
}

Endpoint::Memory Endpoint::memory() const {
  const State& s = *state_;
  return {s.partner_slab.bytes() + s.early_windows.bytes(),
          s.requests.bytes() + s.unexpected_slab.bytes() + s.segment_lists.in_use(),
          s.buffers.in_use() + s.send_buffers.in_use(), sizeof(Partner)};
}

const Counters& Endpoint::counters() const {
  return state_->counters;
}

void Endpoint::snapshot(TimeNs now, Snapshot& out) {
  time_enter(*state_, now);
  snapshot_take(*state_, out);
}

std::uint32_t Endpoint::eager_max(const Partner* partner) const {
  return eager_limit(*state_, *partner);
}

PartnerInfo partner_info(const Partner* p) {
  PartnerInfo info;
  info.nic = p->nic;
  info.endpoint = p->endpoint;
  info.index = p->index;
  info.session = p->reply_session();
  info.conversation = p->conversation;
  info.ended_session = p->ended_session;
  info.gone = p->gone;
  info.extended = p->extended;
  info.checksum = p->checksum;
  info.mode = p->mode;
  info.mode_told = p->mode_told;
  info.frame_max = p->frame_max;
  info.frame_agreed = p->frame_agreed;
  return info;
}

bool partner_connected(const Partner* partner) {
  return partner->connected();
}

std::uint32_t partner_session(const Partner* partner) {
  return partner->true_session;
}

void* partner_context(const Partner* partner) {
  return partner->context;
}

void partner_set_context(Partner* partner, void* context) {
  partner->context = context;
}

}  // namespace omx::protocol
