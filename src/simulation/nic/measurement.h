// SPDX-License-Identifier: BSD-3-Clause
// Connects the simulated processes, and measures what a workload does between begin() and end().
#pragma once

#include <span>
#include <vector>

#include "simulation/nic/work.h"

namespace omx::simulation::nic {

class Measurement {
 public:
  explicit Measurement(const WorkOptions& options);

  bool ready() const { return result_.failure.empty(); }
  void begin();
  WorkResult end(std::uint64_t messages);
  WorkResult failed(std::string why) {
    result_.failure = std::move(why);
    return result_;
  }

  // Send and receive. Must be called inside Process::call or on_progress.
  void send(Process& from, protocol::Peer* to, std::span<std::byte> data, std::uint64_t match,
            bool synchronous = false, void* context = nullptr);
  void receive(Process& at, std::span<std::byte> data, std::uint64_t match, void* context);
  void receive(Process& at, std::vector<std::byte>& data, std::uint64_t match) {
    receive(at, data, match, &data);
  }
  // Returns the time that a send or receive costs a process, without the frames that it sends.
  double operation_ns() const {
    const Parameters& p = options_.network.parameters;
    return p.library_ns + (options_.network.host.mpi ? p.mpi_ns : 0);
  }

  Network network;
  // Returns the host whose load is measured: the second of two hosts, or the one that all others send to.
  std::uint32_t receiver() const { return options_.network.hosts == 0 ? 1 : 0; }

 private:
  const WorkOptions& options_;
  WorkResult result_;
  WorkResult totals();
  WorkResult before_;
  TimeNs started_ = 0;
};

}  // namespace omx::simulation::nic
