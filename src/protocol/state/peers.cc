// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/peers.h"

#include "protocol/direct.h"
#include "protocol/state/generations.h"
#include "protocol/state/peer.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"

namespace omx::protocol {

namespace {

std::size_t hash_of(const State& s, NicId nic, std::uint8_t endpoint) {
  const std::uint64_t h = ((nic << 8) | endpoint) * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::size_t>(h >> 32) & (s.peers.chains.size() - 1);
}

void hash_grow(State& s) {
  s.peers.chains.assign(s.peers.chains.size() * 4, nullptr);
  for (Peer* p : s.peers.by_index) {
    Peer*& head = s.peers.chains[hash_of(s, p->nic, p->endpoint)];
    p->hash_next = head;
    head = p;
  }
}

}  // namespace

Peer* peer_find(State& s, NicId nic, std::uint8_t endpoint) {
  Peer* p = s.peers.last_found;
  if (p && p->nic == nic && p->endpoint == endpoint) return p;
  for (p = s.peers.chains[hash_of(s, nic, endpoint)]; p; p = p->hash_next) {
    if (p->nic == nic && p->endpoint == endpoint) {
      s.peers.last_found = p;
      return p;
    }
  }
  return nullptr;
}

Peer* peer_create(State& s, NicId nic, std::uint8_t endpoint) {
  if (s.peers.by_index.size() >= s.config.max_peers) return nullptr;
  Peer* p = s.memory.peer_slab.create();
  if (!p) return nullptr;
  p->nic = nic;
  p->endpoint = endpoint;
  p->index = static_cast<std::uint32_t>(s.peers.by_index.size());
  p->agreed.mode = s.config.mode;
  p->liveness.last_heard = s.now;
  p->counting.generation = generation_first(s.config.session);
  if (s.config.direct) {
    const IntraNodePath path = s.config.direct->path(nic, endpoint);
    p->agreed.intra_node_frame = path.frame;
    p->agreed.intra_node_pull_frames = path.pull_frames;
  }
  s.peers.by_index.push_back(p);
  if (s.peers.by_index.size() > s.peers.chains.size()) {
    hash_grow(s);
  } else {
    Peer*& head = s.peers.chains[hash_of(s, nic, endpoint)];
    p->hash_next = head;
    head = p;
  }
  peer_update_sizes(s, *p);
  return p;
}

}  // namespace omx::protocol
