// SPDX-License-Identifier: BSD-3-Clause
// The causes of failures in the workload churn. A request fails only with its peer: the engine forgot the
// peer, or was not connected to it. An engine may forget a peer because it is told to, or because the peer is
// another instance. It may have heard nothing for peer_timeout while hosts were down, paused or separated. Or
// the peer forgot first, for a cause of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/engine/contact.h"
#include "simulation/engine/workload.h"

namespace omx::simulation {

class ChurnCauses : public Workload {
 protected:
  // The latest events of a host.
  struct Life {
    TimeNs last_crash = 0;
    TimeNs last_pause = 0, last_resume = 0;
  };

  ChurnCauses(const RunOptions& options, RandomNetwork network, std::uint32_t key);

  bool strict(std::uint32_t a, std::uint32_t b) const override;
  // Fails the run if a request waits too long, for a peer that is gone or for one that is there.
  void overdue_check();

  TimeNs timeout_;
  Contact contact_;
  std::vector<Life> lives_;
  bool faults_over_ = false;  // the faults are over: of hosts that can tell, none may be forgotten any more

 private:
  bool may_fail(const Operation& o, protocol::Status status) override;
  bool send_may_fail(const Operation& m, protocol::Status status);
  bool receive_may_fail(const Operation& r, protocol::Status status);
  bool connect_may_fail(const Operation& o, protocol::Status status);
  void peer_lost(Instance& at, const protocol::Peer& peer, protocol::Cleanup why) override;
  bool loss_explained(Instance& at, const protocol::Peer& peer, protocol::Cleanup why);
  // Notes what a host's engine made of a frame.
  void delivered(SimHost& host, const SimFrame& frame);
  // Returns when the oldest frame was sent that may still arrive between the two hosts.
  TimeNs horizon(std::uint32_t a, std::uint32_t b) const;
  TimeNs gone_since(const Operation& o);
  TimeNs owed_since(const Operation& o);
};

}  // namespace omx::simulation
