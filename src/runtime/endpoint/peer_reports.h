// SPDX-License-Identifier: BSD-3-Clause
// Reports what happens to peers, one line on stderr each: a peer falls silent, comes back, or is given up
// (docs/reference/contract.md).
#pragma once

#include <utility>
#include <vector>

#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/peer_names.h"

namespace omx::runtime {

class PeerReports {
 public:
  PeerReports(EndpointCore& core, const PeerNames& names) : core_(core), names_(names) {}

  // Reports the engine's news to the log and to the sink. Call it after frames or timers.
  void news();
  // Logs the frame sizes of peers, about once a second and at the end.
  void frame_sizes();
  void wire_modes();

 private:
  void one(const protocol::PeerNews& news);
  void ended(const protocol::PeerNews& news);
  void no_batches(const protocol::PeerInfo& peer);

  EndpointCore& core_;
  const PeerNames& names_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> logged_;  // by peer: agreed and proven frame
};

}  // namespace omx::runtime
