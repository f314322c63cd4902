// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "simulation/engine/contact.h"
#include "simulation/engine/workload.h"

namespace omx::simulation {

class Churn final : public Workload {
 public:
  explicit Churn(const RunOptions& options);

 private:
  // What happened to a host, and when.
  struct Life {
    TimeNs last_death = 0;
    TimeNs last_pause = 0, last_resume = 0;
  };

  // --- churn.cc ---
  void act() override;
  void step();
  void send_something(std::uint32_t host, std::uint32_t to);
  void cancel_something();
  void disconnect(std::uint32_t host, std::uint32_t to);
  void pause(std::uint32_t host);
  void resume(std::uint32_t host);
  void crash(std::uint32_t host);
  void restart(std::uint32_t host);
  void partition();
  void contact_update();
  void run_for(TimeNs time);
  // --- churn_peace.cc ---
  void peace();
  void settle();
  void unstick();
  bool over(const Operation& o) const;
  bool settled();
  void connect_all();
  void exchange_all();
  // --- churn_causes.cc ---
  bool strict(std::uint32_t a, std::uint32_t b) const override;
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
  // Fails when somebody waits too long, for one who is gone or for one who is there.
  void overdue_check();
  TimeNs gone_since(const Operation& o);
  TimeNs owed_since(const Operation& o);

  TimeNs timeout_;
  Contact contact_;
  std::vector<Life> lives_;
  bool calm_ = false;  // all is well again: of those that can tell, nobody may be forgotten any more
};

}  // namespace omx::simulation
