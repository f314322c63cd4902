// SPDX-License-Identifier: BSD-3-Clause
// The peers whose next large message waits for a region, first come first. They are linked in one direction
// only, because a large job has many idle peers.
#pragma once

#include <utility>

#include "protocol/state/peer.h"

namespace omx::protocol {

class RegionWaiters {
 public:
  bool empty() const { return !first_; }
  Peer* front() { return first_; }

  // Adds the peer at the end, unless it waits already.
  void add(Peer& p) {
    if (std::exchange(p.tx.region_blocked, true)) return;
    (first_ ? last_->region_next : first_) = &p;
    last_ = &p;
  }

  // Removes the peer, if it waits. It is usually the first one.
  void remove(Peer& p) {
    if (!std::exchange(p.tx.region_blocked, false)) return;
    Peer* before = nullptr;
    for (Peer* i = first_; i != &p; i = i->region_next) before = i;
    Peer* const after = std::exchange(p.region_next, nullptr);
    (before ? before->region_next : first_) = after;
    if (!after) last_ = before;
  }

 private:
  Peer* first_ = nullptr;
  Peer* last_ = nullptr;
};

}  // namespace omx::protocol
