// SPDX-License-Identifier: BSD-3-Clause
// What all workloads do: connect, count from here on, send and receive bytes.
#pragma once

#include <vector>

#include "simulation/nic/workloads.h"

namespace omx::simulation::nic {

class Measuring {
 public:
  explicit Measuring(const WorkOptions& options);

  bool ready() const { return result_.failure.empty(); }
  void begin();
  WorkResult end(std::uint64_t messages);
  WorkResult failed(std::string why) {
    result_.failure = std::move(why);
    return result_;
  }

  // To be called inside Process::call or on_progress.
  void send(Process& from, protocol::Partner* to, std::vector<std::byte>& data, std::uint64_t match,
            bool synchronous = false);
  void receive(Process& at, std::vector<std::byte>& data, std::uint64_t match);
  // What a send or a receive costs a process beside what it sends.
  double operation_ns() const {
    const Parameters& p = options_.pair.parameters;
    return p.library_ns + (options_.pair.host.mpi ? p.mpi_ns : 0);
  }

  Pair pair;

 protected:
  const WorkOptions& options_;
  WorkResult result_;

 private:
  WorkResult totals();
  WorkResult before_;
  TimeNs started_ = 0;
};

}  // namespace omx::simulation::nic
