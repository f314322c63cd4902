// SPDX-License-Identifier: BSD-3-Clause
// The public functions of the engine that describe its peers and itself.
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
  return state_->peers.myself;
}

Partner* Endpoint::find_partner(NicId nic, std::uint8_t endpoint) {
  return partner_find(*state_, nic, endpoint);
}

Partner* Endpoint::partner_at(std::uint32_t index) {
  return index < state_->peers.partners.size() ? state_->peers.partners[index] : nullptr;
}

std::uint32_t Endpoint::partner_count() const {
  return static_cast<std::uint32_t>(state_->peers.partners.size());
}

Endpoint::Memory Endpoint::memory() const {
  const State& s = *state_;
  return {s.memory.partner_slab.bytes() + s.memory.early_windows.bytes(),
          s.memory.requests.bytes() + s.memory.unexpected_slab.bytes() + s.memory.segment_lists.in_use(),
          s.memory.buffers.in_use() + s.memory.send_buffers.in_use(), sizeof(Partner)};
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
  info.conversation = p->session.conversation;
  info.ended_session = p->session.ended_session;
  info.gone = p->session.gone;
  info.extended = p->agreed.extended;
  info.checksum = p->agreed.checksum;
  info.mode = p->agreed.mode;
  info.mode_told = p->agreed.mode_told;
  info.frame_max = p->agreed.frame_max;
  info.frame_agreed = p->agreed.frame_agreed;
  return info;
}

bool partner_connected(const Partner* partner) {
  return partner->connected();
}

std::uint32_t partner_session(const Partner* partner) {
  return partner->session.true_session;
}

void* partner_context(const Partner* partner) {
  return partner->context;
}

void partner_set_context(Partner* partner, void* context) {
  partner->context = context;
}

}  // namespace omx::protocol
