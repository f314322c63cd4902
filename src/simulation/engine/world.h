// SPDX-License-Identifier: BSD-3-Clause
// The simulated network: hosts, each with a cable to one switch, virtual time and faults. Everything follows
// from the options, the calls, and one seed.
//
// The road of a frame: host.cc (engine sends) -> world.cc (faults, the sender's port, the switch, the port to
// the receiver) -> host.cc (ring, engine).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "simulation/engine/cross_traffic.h"
#include "simulation/engine/events.h"
#include "simulation/engine/faults.h"
#include "simulation/engine/frames.h"
#include "simulation/engine/host.h"
#include "simulation/engine/port.h"
#include "simulation/engine/trace.h"

namespace omx::simulation {

struct WorldOptions {
  std::uint64_t seed = 1;
  PortLimits switch_port;      // from the switch to each host
  std::uint32_t path_mtu = 0;  // the switch loses larger frames; 0: carries all
};

class World final : public EventTarget {
 public:
  explicit World(const WorldOptions& options);
  ~World();

  SimHost& add(const HostOptions& options);
  SimHost& host(std::uint32_t index) { return *hosts_[index]; }
  std::uint32_t host_count() const { return static_cast<std::uint32_t>(hosts_.size()); }
  static NicId nic_of(std::uint32_t index, unsigned rail = 0) {
    return 0x020000000000 + (NicId{rail} << kRailShift) + index + 1;
  }

  TimeNs now() const { return events_.now(); }
  Faults& faults() { return faults_; }
  // Called after a host's engine has received frames or run timers.
  void on_activity(std::function<void(SimHost&)> function) { on_activity_ = std::move(function); }
  // Called when a host's engine has processed a frame.
  void on_delivery(std::function<void(SimHost&, const SimFrame&)> function) {
    on_delivery_ = std::move(function);
  }
  // Writes all events as readable lines into `trace`. nullptr: none.
  void trace_to(Trace* trace) { trace_ = trace; }

  // Runs until the condition holds. Returns false when the time limit passed or no event is left.
  bool run_until(const std::function<bool()>& condition, TimeNs limit);
  void run_for(TimeNs time);

  // Cuts or mends the cable of one of a host's boards. Frames on the cable are lost.
  void cut(std::uint32_t host, unsigned rail, bool cut) { cuts_[{host, rail}] = cut; }

  // Returns a digest of all frames sent so far, bytes and times. Two equal runs have the same.
  std::uint64_t digest() const { return digest_; }
  struct Totals {
    std::uint64_t frames = 0;   // handed to the network by engines
    std::uint64_t bytes = 0;    // of these frames
    std::uint64_t lost = 0;     // by faults
    std::uint64_t dropped = 0;  // by full ports and the path MTU
    std::uint64_t events = 0;
  };
  Totals totals() const;
  const PortCounters& switch_port(std::uint32_t host, unsigned rail = 0) const {
    return switch_ports_[host][rail].counters();
  }

  // --- for hosts ---
  FramePool& frames() { return frames_; }
  std::uint32_t session_next() { return session_++; }
  void schedule(TimeNs at, EventTarget& target, std::uint64_t argument) {
    events_.schedule(at, target, argument);
  }
  void transmit(SimHost& from, std::uint32_t frame);
  void activity(SimHost& host);
  void delivered(SimHost& host, const SimFrame& frame);
  void on_event(std::uint64_t argument) override;

 private:
  static constexpr unsigned kRailShift = 24;
  bool is_cut(std::uint32_t host, unsigned rail) const {
    const auto cut = cuts_.find({host, rail});
    return cut != cuts_.end() && cut->second;
  }
  enum class Step : std::uint64_t { at_switch, at_host };
  void forward(std::uint32_t frame);
  void share(std::uint32_t host, SimFrame& frame);
  void leave(SimHost& from, std::uint32_t frame, const FrameFaults& drawn);

  WorldOptions options_;
  EventQueue events_;
  FramePool frames_;
  Faults faults_;
  std::vector<std::unique_ptr<SimHost>> hosts_;
  std::vector<std::vector<Port>> switch_ports_;      // by host and board
  std::vector<std::optional<CrossTraffic>> others_;  // at the first board's port of each host
  std::map<std::pair<std::uint32_t, unsigned>, bool> cuts_;
  std::function<void(SimHost&)> on_activity_;
  std::function<void(SimHost&, const SimFrame&)> on_delivery_;
  Trace* trace_ = nullptr;
  std::uint32_t session_ = 0x1001;
  std::uint64_t digest_ = 0;
  Totals totals_;
};

}  // namespace omx::simulation
