// SPDX-License-Identifier: BSD-3-Clause
// The end of the workload churn: all hosts run and hear each other, and must be able to communicate.
#pragma once

#include "simulation/engine/churn_hosts.h"

namespace omx::simulation {

class ChurnRecovery : public ChurnHosts {
 protected:
  using ChurnHosts::ChurnHosts;

  void recover();

 private:
  void settle();
  void unstick();
  bool forgotten_send_waits(std::uint32_t host, std::uint32_t to);
  void unstick_forgotten();
  bool over(const Operation& o) const;
  bool settled();
  void connect_all();
  void exchange_all();
};

}  // namespace omx::simulation
