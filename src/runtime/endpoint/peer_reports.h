// SPDX-License-Identifier: BSD-3-Clause
// What happens to peers is said where people look: one line on stderr for a peer that falls silent, one when
// it is back, and one when it is given up (docs/reference/contract.md).
#pragma once

#include <utility>
#include <vector>

#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/peer_names.h"

namespace omx::runtime {

class PeerReports {
 public:
  PeerReports(EndpointCore& core, const PeerNames& names) : core_(core), names_(names) {}

  // After frames or timers: reports the engine's news to people and to the sink.
  void news();
  // About once a second, and at the end.
  void frame_sizes();
  void wire_modes();

 private:
  void one(const protocol::PeerNews& news);
  void ended(const protocol::PeerNews& news);
  void no_trains(const protocol::PartnerInfo& peer);

  EndpointCore& core_;
  const PeerNames& names_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> logged_;  // by partner: agreed and proven frame
};

}  // namespace omx::runtime
