// SPDX-License-Identifier: BSD-3-Clause
// The common part of all workloads: hosts whose applications connect, send, receive and cancel.
#pragma once

#include <cstdint>

#include "simulation/engine/workload_checks.h"

namespace omx::simulation {

class Workload : public WorkloadChecks {
 public:
  Workload(const RunOptions& options, RandomNetwork network, std::uint32_t key);
  RunResult run();

 protected:
  struct SendWish {
    std::size_t length = 0;
    bool synchronous = false;
    bool forgotten = false;
    std::uint32_t session = wire::kUnknownSession;  // the one that the address names
  };

  virtual void act() = 0;

  void connect(std::uint32_t host, std::uint32_t to, bool bad_key);
  void send(std::uint32_t host, std::uint32_t to, protocol::Peer* peer, const SendWish& wish);
  // Posts a receive for anything, or for some messages.
  void receive(std::uint32_t host, bool anything);
  void cancel(Operation& o, bool complete);
  void reap_all();
  void receives_cancel();

  protocol::Endpoint& engine(std::uint32_t host) { return world_.host(host).engine(); }
  TimeNs clock(std::uint32_t host) { return world_.host(host).clock(); }
  // Returns whether some hosts have no extension.
  bool relaxed() const;
  std::uint32_t any_host() { return static_cast<std::uint32_t>(random_.below(hosts())); }
  Operation& operation_begin(protocol::RequestKind kind, std::uint32_t host);
  Instance& instance_create(std::uint32_t host);
};

}  // namespace omx::simulation
