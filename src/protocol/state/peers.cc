// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/peers.h"

#include <new>
#include <vector>

#include "protocol/direct.h"
#include "protocol/state/generations.h"
#include "protocol/state/peer.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"

namespace omx::protocol {

namespace {

std::size_t hash_of(const State& s, NicId nic, std::uint8_t endpoint) {
  const std::uint64_t h = ((nic << 8) | endpoint) * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::size_t>((h >> 32) * s.peers.chains.size() >> 32);
}

void hash_add(State& s, Peer& p) {
  std::uint32_t& first = s.peers.chains[hash_of(s, p.nic, p.endpoint)];
  p.hash_next = first ? s.peers.by_index[first - 1] : nullptr;
  first = p.index + 1;
}

// A table that grows in small steps has few empty places. Without memory for another one the chains get
// longer.
void hash_grow(State& s) {
  try {
    s.peers.chains = std::vector<std::uint32_t>(s.peers.chains.size() * 3 / 2);
  } catch (const std::bad_alloc&) {
    return hash_add(s, *s.peers.by_index[s.peers.by_index.size() - 1]);
  }
  for (Peer* p : s.peers.by_index) hash_add(s, *p);
}

}  // namespace

Peer* peer_find(State& s, NicId nic, std::uint8_t endpoint) {
  Peer* p = s.peers.last_found;
  if (p && p->nic == nic && p->endpoint == endpoint) return p;
  const std::uint32_t first = s.peers.chains[hash_of(s, nic, endpoint)];
  for (p = first ? s.peers.by_index[first - 1] : nullptr; p; p = p->hash_next) {
    if (p->nic == nic && p->endpoint == endpoint) {
      s.peers.last_found = p;
      return p;
    }
  }
  return nullptr;
}

Peer* peer_create(State& s, NicId nic, std::uint8_t endpoint) {
  if (s.peers.by_index.size() >= s.config.max_peers) return nullptr;
  const auto index = static_cast<std::uint32_t>(s.peers.by_index.size());
  Peer* const p = s.peers.by_index.add();
  if (!p) return nullptr;
  p->nic = nic;
  p->endpoint = endpoint;
  p->index = index;
  p->agreed.mode = s.config.mode;
  p->liveness.last_heard = s.now;
  p->counting.generation = generation_first(s.config.session);
  if (s.config.direct) {
    const IntraNodePath path = s.config.direct->path(nic, endpoint);
    p->agreed.intra_node_frame = path.frame;
    p->agreed.intra_node_pull_frames = path.pull_frames;
  }
  if (s.peers.by_index.size() > s.peers.chains.size())
    hash_grow(s);
  else
    hash_add(s, *p);
  peer_update_sizes(s, *p);
  return p;
}

}  // namespace omx::protocol
