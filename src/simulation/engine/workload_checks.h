// SPDX-License-Identifier: BSD-3-Clause
// The checks that hold in every workload, whatever happens. Each request ends once. A message is delivered at
// most once, whole, to the receive that MX matching says (matching_model.h), in the order in which its sender
// sent. Success means what it says. Each workload decides what may fail, and when.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/observer.h"
#include "protocol/state/peer.h"
#include "simulation/engine/instance.h"
#include "simulation/engine/operation.h"
#include "simulation/engine/random_network.h"
#include "simulation/engine/run.h"
#include "simulation/engine/world.h"

namespace omx::simulation {

inline constexpr TimeNs kSecond = 1000 * protocol::kMillisecond;

class WorkloadChecks;

// Receives the reports of a host's engine.
class HostObserver final : public protocol::Observer {
 public:
  HostObserver(WorkloadChecks& run, std::uint32_t host) : run_(run), host_(host) {}
  void on_arrival(const protocol::Peer& from, std::uint64_t info, const protocol::Request* receive) override;
  void on_dropped(const protocol::Peer& from, std::uint64_t info) override;
  void on_forget(const protocol::Peer& peer, protocol::Cleanup why) override;

 private:
  WorkloadChecks& run_;
  std::uint32_t host_;
};

class WorkloadChecks {
 public:
  virtual ~WorkloadChecks() = default;
  WorkloadChecks(const WorkloadChecks&) = delete;
  WorkloadChecks& operator=(const WorkloadChecks&) = delete;

  // Called by the observers.
  void arrived(Instance& at, const protocol::Peer& from, std::uint64_t info,
               const protocol::Request* receive);
  void dropped(Instance& at, std::uint64_t info);
  void forget(Instance& at, const protocol::Peer& peer, protocol::Cleanup why);
  Instance& instance(std::uint32_t host) { return *current_[host]; }

 protected:
  WorkloadChecks(const RunOptions& options, RandomNetwork network, std::uint32_t key)
      : options_(options),
        network_(std::move(network)),
        key_(key),
        random_(options.seed),
        world_(network_.world) {}

  // Returns whether two hosts can always tell which of them forgot the other. Without crashes no host forgets
  // another.
  virtual bool strict(std::uint32_t, std::uint32_t) const { return true; }
  // Returns whether an event explains why the operation ended with this status.
  virtual bool may_fail(const Operation&, protocol::Status) { return false; }
  // Called when an engine forgets a peer that it was connected to.
  virtual void peer_lost(Instance&, const protocol::Peer&, protocol::Cleanup) {}

  void fail(const std::string& text);
  bool failed() const { return !failure_.empty(); }
  void reap(SimHost& host);
  // Fails if an engine still holds anything. With `timers` even an armed timer counts.
  void leftovers(bool timers);
  void note(const Operation& o, const std::string& text);  // writes a line into the trace
  void message_matched(Operation& receive, std::uint64_t message);
  Operation& operation(std::uint64_t id) { return *operations_[id - 1]; }
  std::uint32_t hosts() const { return world_.host_count(); }

  RunOptions options_;
  RandomNetwork network_;
  std::uint32_t key_;
  Random random_;
  std::size_t largest_;  // the longest message, and the size of receives for anything
  std::vector<std::unique_ptr<HostObserver>> observers_;
  std::vector<std::unique_ptr<Instance>> instances_;
  std::vector<Instance*> current_;  // by host
  std::unordered_map<std::uint32_t, Instance*> by_session_;
  std::deque<std::unique_ptr<Operation>> operations_;  // by id - 1
  std::vector<std::uint64_t> undelivered_;             // by destination
  std::optional<Trace> trace_;
  World world_;
  std::string failure_;
  std::uint64_t messages_ = 0, bytes_ = 0;

 private:
  void ended(Instance& at, const protocol::Completion& c, bool accepted, bool large);
  void receive_ended(Operation& r, const protocol::Completion& c);
  void send_ended(Operation& m, protocol::Status status, bool accepted, bool taken);
  void connect_ended(Operation& o, const protocol::Completion& c);
};

}  // namespace omx::simulation
