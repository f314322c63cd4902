// SPDX-License-Identifier: BSD-3-Clause
// Asking the network for names. Our hosts answer a HOST_QUERY to the broadcast address; reference hosts
// answer only one to their own address, which they announce by broadcasts of their own
// (docs/spec/wire.md 4.13).
#pragma once

#include <functional>
#include <vector>

#include "config/settings.h"
#include "runtime/board/boards.h"
#include "runtime/board/peer_table.h"

namespace omx::runtime {

struct DiscoveryRequest {
  NicId nic = kBroadcastNic;        // whom to ask
  std::function<bool()> found;      // looked at after each batch of answers
  std::function<void()> meanwhile;  // called every few milliseconds
  bool answers = true;              // others may be told our name, as we are reached by raw frames
};

// Whether it was found within settings.discovery_ms. A failure when no board lets us ask (no permission).
Result<bool> peers_discover(const std::vector<Board>& boards, const Settings& settings, PeerTable& peers,
                            const DiscoveryRequest& request);

}  // namespace omx::runtime
