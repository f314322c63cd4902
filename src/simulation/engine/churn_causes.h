// SPDX-License-Identifier: BSD-3-Clause
// Why something may fail in the workload of deaths. A request fails only with its partner: the engine forgot
// it, or was not connected to it. An engine forgets a partner only because it is told to, because nothing was
// heard for peer_timeout while hosts were dead, paused or separated, because the peer is another instance, or
// because the peer forgot first, for such a reason of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/engine/contact.h"
#include "simulation/engine/workload.h"

namespace omx::simulation {

class ChurnCauses : public Workload {
 protected:
  // What happened to a host, and when.
  struct Life {
    TimeNs last_crash = 0;
    TimeNs last_pause = 0, last_resume = 0;
  };

  ChurnCauses(const RunOptions& options, RandomNetwork network, std::uint32_t key);

  bool strict(std::uint32_t a, std::uint32_t b) const override;
  // Fails when somebody waits too long, for one who is gone or for one who is there.
  void overdue_check();

  TimeNs timeout_;
  Contact contact_;
  std::vector<Life> lives_;
  bool calm_ = false;  // all is well again: of those that can tell, nobody may be forgotten any more

 private:
  bool may_fail(const Operation& o, protocol::Status status) override;
  bool send_may_fail(const Operation& m, protocol::Status status);
  bool receive_may_fail(const Operation& r, protocol::Status status);
  bool connect_may_fail(const Operation& o, protocol::Status status);
  void partner_lost(Instance& at, const protocol::Partner& partner, protocol::Cleanup why) override;
  bool loss_explained(Instance& at, const protocol::Partner& partner, protocol::Cleanup why);
  // What a host's engine has made of a frame.
  void delivered(SimHost& host, const SimFrame& frame);
  // Of what arrives from now on between the two, when was the oldest sent?
  TimeNs horizon(std::uint32_t a, std::uint32_t b) const;
  TimeNs gone_since(const Operation& o);
  TimeNs owed_since(const Operation& o);
};

}  // namespace omx::simulation
