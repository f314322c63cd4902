// SPDX-License-Identifier: BSD-3-Clause
// A host of the simulated network: one endpoint, which is the real engine, its receive ring and its clock.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "protocol/endpoint.h"
#include "simulation/engine/events.h"
#include "simulation/engine/late_copies.h"
#include "simulation/engine/port.h"

namespace omx::simulation {

class World;

// A port of the switch that others use, too.
struct SharedPort {
  PortLimits limits;
  std::uint64_t others_seed = 0;  // of their traffic (cross_traffic.h); 0: they send nothing
  std::uint64_t mark_bytes = 0;   // the port marks frames that find so much waiting (ECN); 0: none
};

struct HostOptions {
  protocol::Config config;  // the world sets nic and session
  PortLimits port;          // into the network
  std::uint32_t ring_frames = 4096;
  bool bulk = false;                       // takes large messages by a UDP bulk path ...
  TimeNs bulk_dies_at = protocol::kNever;  // ... until a firewall blocks it
  double gso_cut = 0;                      // the network cuts such a share of the GSO frames that it sends
  std::uint64_t copies_seed = 0;           // 0: the engine copies; else LateCopies does, seeded by this
  std::vector<PortLimits> rails;           // its further boards, each on a switch of its own
  std::optional<SharedPort> shared;        // instead of the switch's other ports
  int clock_ppm = 0;                       // how much faster than true time its clock runs
};

class SimHost final : public wire::FrameSink, public EventTarget {
 public:
  SimHost(World& world, std::uint32_t index, const HostOptions& options);
  ~SimHost();

  std::uint32_t index() const { return index_; }
  NicId nic() const { return options_.config.nic; }
  const HostOptions& options() const { return options_; }
  bool alive() const { return engine_ != nullptr; }
  bool paused() const { return paused_; }
  protocol::Endpoint& engine() { return *engine_; }
  // Returns the time for calls of the engine. It never goes back.
  TimeNs clock() const;

  // Stops the application's calls: frames wait in the ring, and are lost when it is full.
  void pause();
  void resume();
  // crash() ends the endpoint without a message to its peers. restart() opens one with the same id and
  // another session.
  void crash();
  void restart();
  // Schedules the next wake-up. Must follow calls of the engine from outside, because its next deadline may
  // have changed.
  void deadline_check();

  void frame_arrived(std::uint32_t frame);
  const protocol::Counters& counters() const { return counters_; }  // of all its endpoints so far
  std::uint64_t ring_drops() const { return ring_drops_; }
  Port& port(unsigned rail = 0) { return rail == 0 ? port_ : rails_[rail - 1]; }
  unsigned boards() const { return 1 + static_cast<unsigned>(rails_.size()); }

  wire::TxFrame& frame_begin(std::uint32_t max_segments) override;
  wire::TxFrame& bulk_begin(const wire::BulkAddress& to, std::uint32_t max_segments) override;
  wire::TxFrame& rail_begin(unsigned rail, std::uint32_t max_segments) override;
  void frame_commit() override;
  void flush() override {}
  void on_event(std::uint64_t argument) override;

 private:
  void open();
  void ring_process(bool bulk_too = false);
  void bulk_process(std::span<const std::uint32_t> batch, bool by_bulk, unsigned rail = 0);
  void udp_bulk_process();
  void frame_process(std::uint32_t frame);
  void frame_done(std::uint32_t frame);
  void held_give_back();
  TimeNs true_time(TimeNs clock) const;

  World& world_;
  std::uint32_t index_;
  HostOptions options_;
  Port port_;
  std::vector<Port> rails_;
  protocol::Counters counters_;
  std::optional<LateCopies> copies_;
  std::unique_ptr<protocol::Endpoint> engine_;
  bool paused_ = false;
  std::deque<std::uint32_t> ring_;
  std::deque<std::uint32_t> udp_bulk_;  // read only while the engine awaits data by the bulk path
  struct Held {
    std::uint32_t frame;
    std::uint64_t ticket;
  };
  std::deque<Held> held_;  // slots of the ring that copies still read
  std::uint64_t ring_drops_ = 0;
  TimeNs wake_at_ = protocol::kNever;  // true time of the earliest scheduled wake-up
  wire::TxFrame tx_;
  std::vector<iovec> segments_;
  bool by_bulk_ = false;  // of the frame under construction
  unsigned by_rail_ = 0;
  Random gso_random_;
};

}  // namespace omx::simulation
