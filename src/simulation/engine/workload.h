// SPDX-License-Identifier: BSD-3-Clause
// What every workload has in common: hosts whose applications connect, send, receive and cancel, and the
// checks that hold whatever happens. Each request ends once; a message is delivered at most once, whole, to
// the receive that MX matching says (matching_model.h), in the order in which its sender sent; success means
// what it says. What may fail, and when, is for each workload to say.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/observer.h"
#include "protocol/partner.h"
#include "simulation/engine/instance.h"
#include "simulation/engine/operation.h"
#include "simulation/engine/random_network.h"
#include "simulation/engine/run.h"
#include "simulation/engine/world.h"

namespace omx::simulation {

inline constexpr TimeNs kSecond = 1000 * protocol::kMillisecond;

class Workload;

// A host's engine reports to it.
class HostObserver final : public protocol::Observer {
 public:
  HostObserver(Workload& run, std::uint32_t host) : run_(run), host_(host) {}
  void on_arrival(const protocol::Partner& from, std::uint64_t info,
                  const protocol::Request* receive) override;
  void on_dropped(const protocol::Partner& from, std::uint64_t info) override;
  void on_forget(const protocol::Partner& partner, protocol::Cleanup why) override;

 private:
  Workload& run_;
  std::uint32_t host_;
};

class Workload {
 public:
  Workload(const RunOptions& options, RandomNetwork network, std::uint32_t key);
  virtual ~Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;
  RunResult run();

  // What observers report.
  void arrived(Instance& at, const protocol::Partner& from, std::uint64_t info,
               const protocol::Request* receive);
  void dropped(Instance& at, std::uint64_t info);
  void forget(Instance& at, const protocol::Partner& partner, protocol::Cleanup why);
  Instance& instance(std::uint32_t host) { return *current_[host]; }

 protected:
  struct SendWish {
    std::size_t length = 0;
    bool synchronous = false;
    bool forgotten = false;
    std::uint32_t session = wire::kUnknownSession;  // in the address
  };

  virtual void act() = 0;
  // Whether two hosts can always tell who forgot whom: without deaths nobody does.
  virtual bool strict(std::uint32_t, std::uint32_t) const { return true; }
  // Whether something happened that explains why the operation ended with this status.
  virtual bool may_fail(const Operation&, protocol::Status) { return false; }
  // An engine forgets a partner that it was connected to.
  virtual void partner_lost(Instance&, const protocol::Partner&, protocol::Cleanup) {}

  // --- workload.cc: what applications ask for ---
  void connect(std::uint32_t host, std::uint32_t to, bool bad_key);
  void send(std::uint32_t host, std::uint32_t to, protocol::Partner* partner, const SendWish& wish);
  // A receive for anything, or for something.
  void receive(std::uint32_t host, bool anything);
  void cancel(Operation& o, bool complete);
  void reap_all();
  // --- workload_checks.cc ---
  void fail(const std::string& text);
  bool failed() const { return !failure_.empty(); }
  void reap(SimHost& host);
  void receives_cancel();
  // What an engine must not hold when all is over. `timers`: not even one that is armed.
  void leftovers(bool timers);

  protocol::Endpoint& engine(std::uint32_t host) { return world_.host(host).engine(); }
  TimeNs clock(std::uint32_t host) { return world_.host(host).clock(); }
  std::uint32_t hosts() const { return world_.host_count(); }
  // Some have no extension.
  bool relaxed() const;
  std::uint32_t any_host() { return static_cast<std::uint32_t>(random_.below(hosts())); }
  Operation& operation(std::uint64_t id) { return *operations_[id - 1]; }
  void note(const Operation& o, const std::string& text);  // in the trace
  Operation& operation_begin(protocol::RequestKind kind, std::uint32_t host);
  Instance& instance_create(std::uint32_t host);
  void message_matched(Operation& receive, std::uint64_t message);
  void ended(Instance& at, const protocol::Completion& c, bool accepted, bool large);
  void receive_ended(Operation& r, const protocol::Completion& c);
  void send_ended(Operation& m, protocol::Status status, bool accepted, bool taken);
  void connect_ended(Operation& o, const protocol::Completion& c);

  RunOptions options_;
  RandomNetwork network_;
  std::uint32_t key_;
  Random random_;
  std::size_t largest_;  // message; and the size of receives for anything
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
};

}  // namespace omx::simulation
