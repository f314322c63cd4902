// SPDX-License-Identifier: BSD-3-Clause
// The conditions that hold all the time in a run of stalls.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/observer.h"
#include "protocol/state/peer.h"
#include "simulation/engine/run.h"
#include "simulation/engine/silence.h"
#include "simulation/engine/stalls_plan.h"
#include "simulation/engine/stream.h"
#include "simulation/engine/world.h"

namespace omx::simulation {

inline constexpr unsigned kStallsIdShift = 8;
inline constexpr std::uint64_t kStallsTags = 3;
inline constexpr std::size_t kStallsLargest = 70'000;

class StallsChecks;

class StallsObserver final : public protocol::Observer {
 public:
  StallsObserver(StallsChecks& run, std::uint32_t host) : run_(run), host_(host) {}
  void on_arrival(const protocol::Peer& from, std::uint64_t info, const protocol::Request* receive) override;
  void on_dropped(const protocol::Peer& from, std::uint64_t info) override;
  void on_forget(const protocol::Peer& peer, protocol::Cleanup why) override;

 private:
  StallsChecks& run_;
  std::uint32_t host_;
};

class StallsChecks {
 public:
  // Called by the observers.
  void arrived(std::uint32_t host, const protocol::Peer& from, std::uint64_t info);
  void dropped(std::uint64_t info);
  void forgot(std::uint32_t host, const protocol::Peer& peer);

 protected:
  // An application's view of a peer.
  struct Address {
    protocol::Peer* peer = nullptr;
    std::uint32_t session = 0;
    std::uint32_t conversation = 0;
    std::uint32_t streams = 0;
    Stream* stream = nullptr;
    bool usable = false;
    bool again = false;  // the application will connect again
    bool connecting = false;
    TimeNs forgotten = 0;  // when the engine first forgot the peer during the stream; 0: never
    TimeNs last_forgotten = 0;
    TimeNs heard = 0;  // Silence::ran at the last frame from the peer
  };

  StallsChecks(const RunOptions& options, std::uint32_t key);
  ~StallsChecks() = default;

  void fail(const std::string& text);
  bool failed() const { return !failure_.empty(); }
  void note(const Call& c, const std::string& text);
  // Returns whether the conversation is no longer the one that is open with the peer.
  static bool conversation_over(const protocol::Peer& peer, std::uint32_t conversation);
  Call* message(std::uint64_t info);
  void ended(std::uint32_t host, const protocol::Completion& c, bool buffered, bool large);
  void connect_ended(Call& c, const protocol::Completion& completion);
  void send_ended(Call& c, protocol::Status status, bool buffered, bool large);
  void receive_ended(Call& c, const protocol::Completion& completion);
  void delivered(Call& m, const Call& receive, const protocol::Completion& completion);
  // Notes that a stream failed with message `number`. A success of that message or a later one is wrong.
  void stream_failed(Stream& stream, std::uint64_t number);
  void lost(std::uint64_t info);
  void heard(std::uint32_t host, std::uint32_t from);
  // Returns whether a silence, or the end of an endpoint, explains an error.
  bool explained(std::uint32_t a, std::uint32_t b, TimeNs begun);
  void overdue_check();
  protocol::Endpoint& engine(std::uint32_t host) { return world_.host(host).engine(); }
  TimeNs clock(std::uint32_t host) { return world_.host(host).clock(); }
  std::uint32_t hosts() const { return world_.host_count(); }
  Address& address(std::uint32_t host, std::uint32_t other) { return addresses_[host * hosts() + other]; }
  std::uint32_t any_other(std::uint32_t host) {
    return static_cast<std::uint32_t>((host + 1 + random_.below(hosts() - 1)) % hosts());
  }
  // Returns the number of steps. There are fewer than in other workloads, as time passes in most of them.
  static std::uint32_t steps(const RunOptions& options) { return std::max(options.operations / 4, 4U); }
  bool runs(std::uint32_t host) { return world_.host(host).alive() && !world_.host(host).paused(); }

  RunOptions options_;
  StallsPlan plan_;
  Random random_;
  World world_;
  std::optional<Trace> trace_;
  std::vector<std::unique_ptr<StallsObserver>> observers_;
  Silence silence_;
  std::deque<Life> lives_;
  std::vector<Life*> current_;  // by host
  std::unordered_map<std::uint32_t, Life*> by_session_;
  std::deque<Stream> streams_;
  std::vector<Address> addresses_;
  std::deque<Call> calls_;                          // by id - 1
  std::vector<std::vector<std::uint32_t>> newest_;  // by life and host: the latest stream that arrived there
  std::vector<unsigned> stalls_;                    // by host: outages that stop it
  std::vector<std::vector<std::byte>> memory_;      // of receives that have ended
  std::size_t begun_ = 0, active_ = 0;              // outages
  std::uint64_t order_ = 0;
  std::uint64_t messages_ = 0, bytes_ = 0;
  bool faults_over_ = false;  // the faults are over: nothing may fail any more
  std::string failure_;

 private:
  void address_learn(std::uint32_t host, std::uint32_t other, const protocol::Completion& c, TimeNs begun);
  void address_failed(std::uint32_t host, std::uint32_t other);
};

}  // namespace omx::simulation
