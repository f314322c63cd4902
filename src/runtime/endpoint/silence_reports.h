// SPDX-License-Identifier: BSD-3-Clause
// Peers that do not answer. A firewall that drops what it does not know says nothing, and nothing can be told
// by that but what to look at.
#pragma once

#include <string>
#include <vector>

#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/peer_names.h"

namespace omx::runtime {

class SilenceReports {
 public:
  SilenceReports(EndpointCore& core, const PeerNames& names) : core_(core), names_(names) {}

  // Returns what to look at when that NIC does not answer; empty when there is nothing to say.
  std::string advice(NicId nic) const;
  // After connects may have ended.
  void found();
  // About once a second.
  void check();

 private:
  std::string reason_of(const protocol::PartnerInfo& peer) const;
  void report(const protocol::PartnerInfo& peer);
  // The first time that a bound keeps messages waiting: once for each kind, in a process.
  void held_up();

  EndpointCore& core_;
  const PeerNames& names_;
  std::vector<NicId> reported_;
};

}  // namespace omx::runtime
