// SPDX-License-Identifier: BSD-3-Clause
// Asks the network for names. Hosts with this Open-MX answer a HOST_QUERY to the broadcast address. Legacy
// hosts answer only a query to their own address, which they announce by broadcasts (docs/spec/wire.md
// 4.13).
#pragma once

#include <functional>
#include <vector>

#include "config/settings.h"
#include "runtime/board/boards.h"
#include "runtime/board/peer_table.h"

namespace omx::runtime {

struct DiscoveryRequest {
  NicId nic = kBroadcastNic;        // the NIC to ask
  std::function<bool()> found;      // called after each batch of answers
  std::function<void()> meanwhile;  // called every few milliseconds
  bool answers = true;              // we are reached by raw frames and may tell others our name
};

// Returns whether the name was found within settings.discovery_ms. Fails when no board lets us ask (no
// permission).
Result<bool> peers_discover(const std::vector<Board>& boards, const Settings& settings, PeerTable& peers,
                            const DiscoveryRequest& request);

}  // namespace omx::runtime
