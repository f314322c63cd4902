// SPDX-License-Identifier: BSD-3-Clause
// The public functions of the engine that describe its peers and itself.
#include "protocol/endpoint_facts.h"

#include "base/mac.h"
#include "protocol/counters.h"
#include "protocol/snapshot.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/running_time.h"
#include "protocol/state/sizes.h"
#include "protocol/state/snapshot_take.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

Peer* EndpointFacts::self() {
  return state_->peers.myself;
}

Peer* EndpointFacts::find_peer(NicId nic, std::uint8_t endpoint) {
  return peer_find(*state_, nic, endpoint);
}

Peer* EndpointFacts::peer_at(std::uint32_t index) {
  return index < state_->peers.by_index.size() ? state_->peers.by_index[index] : nullptr;
}

std::uint32_t EndpointFacts::peer_count() const {
  return static_cast<std::uint32_t>(state_->peers.by_index.size());
}

EndpointFacts::Memory EndpointFacts::memory() const {
  const State& s = *state_;
  const EngineMemory& m = s.memory;
  return {s.peers.by_index.bytes() + s.peers.chains.capacity() * sizeof(std::uint32_t) +
              s.bulk.owners.bytes() + m.partials.bytes() + m.peer_pulls.bytes() + m.reorder_buffers.bytes() +
              m.eager_windows.bytes() + m.bulk_distrusts.bytes(),
          s.memory.requests.bytes() + s.memory.unexpected_slab.bytes() + s.memory.segment_lists.in_use() +
              s.timers.bytes(),
          s.memory.buffers.in_use() + s.memory.send_buffers.in_use(), sizeof(Peer)};
}

const Counters& EndpointFacts::counters() const {
  return state_->counters;
}

void EndpointFacts::snapshot(TimeNs now, Snapshot& out) {
  time_enter(*state_, now);
  snapshot_take(*state_, out);
}

std::uint32_t EndpointFacts::eager_max(const Peer* peer) const {
  return eager_limit(*state_, *peer);
}

PeerInfo peer_info(const Peer* p) {
  PeerInfo info;
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

bool peer_connected(const Peer* peer) {
  return peer->connected();
}

std::uint32_t peer_session(const Peer* peer) {
  return peer->session.true_session;
}

void* peer_context(const Peer* peer) {
  return peer->context;
}

void peer_set_context(Peer* peer, void* context) {
  peer->context = context;
}

}  // namespace omx::protocol
