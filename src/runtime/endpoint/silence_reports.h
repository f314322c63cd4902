// SPDX-License-Identifier: BSD-3-Clause
// Reports peers that do not answer. A firewall drops unknown traffic silently, so the report can only say
// what to check.
#pragma once

#include <string>
#include <vector>

#include "runtime/endpoint/endpoint_core.h"
#include "runtime/endpoint/peer_names.h"

namespace omx::runtime {

class SilenceReports {
 public:
  SilenceReports(EndpointCore& core, const PeerNames& names) : core_(core), names_(names) {}

  // Returns what the user should check when that NIC does not answer; empty if there is nothing to say.
  std::string advice(NicId nic) const;
  // Reports connects that may have ended without an answer.
  void found();
  // Checks for silent peers, about once a second.
  void check();

 private:
  std::string reason_of(const protocol::PeerInfo& peer) const;
  void report(const protocol::PeerInfo& peer);
  // Reports the first time that a limit keeps messages waiting, once for each kind in a process.
  void held_up();

  EndpointCore& core_;
  const PeerNames& names_;
  std::vector<NicId> reported_;
};

}  // namespace omx::runtime
