// SPDX-License-Identifier: BSD-3-Clause
// A simulated fabric: hosts with real engines and modelled TCP flows on a tree of switches with short queues.
// Nothing is lost but what a queue or a ring cannot hold. Everything follows from the options and the calls.
//
// The road of a frame: host.cc (engine sends) or tcp_flow.cc -> fabric.cc (the sender's NIC, port after port)
// -> host.cc (ring, poll, engine) or tcp_flow.cc. Each port is one event: a frame's departure is computed
// when it arrives, because no later frame can change it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "simulation/engine/events.h"
#include "simulation/fabric/host.h"
#include "simulation/fabric/options.h"
#include "simulation/fabric/packets.h"
#include "simulation/fabric/queue.h"
#include "simulation/fabric/tcp_flow.h"
#include "simulation/fabric/tree.h"

namespace omx::simulation::fabric {

class Fabric final : public EventTarget, public HostSurroundings, public TcpSurroundings {
 public:
  explicit Fabric(const FabricOptions& options);
  ~Fabric();

  const FabricOptions& options() const override { return options_; }
  const Tree& tree() const { return tree_; }
  TimeNs now() const override { return events_.now(); }
  // Returns the host, whose endpoint opens at the first call.
  Host& host(std::uint32_t index);
  bool host_used(std::uint32_t index) const { return hosts_[index] != nullptr; }
  std::uint32_t tcp_add(std::uint32_t from, std::uint32_t to, TcpKind kind);
  TcpFlow& tcp(std::uint32_t flow) { return *flows_[flow]; }
  OutputQueue& port(std::uint32_t index) { return ports_[index]; }

  // Called for completions of sends and receives, and for each frame that reaches its host.
  std::function<void(Host&, const protocol::Completion&)> on_completion;
  std::function<void(const Packet&)> on_arrival;

  // Connects pairs of hosts, {from, to}, and waits until all can send. Returns false on failure.
  bool connect(std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs);
  bool run_until(const std::function<bool()>& condition, TimeNs limit);
  void run_for(TimeNs time);

  struct Totals {
    std::uint64_t frames = 0, arrived = 0;        // all kinds
    std::uint64_t engine_frames = 0;              // sent by engines
    std::uint64_t engine_dropped = 0;             // by ports
    std::uint64_t tcp_dropped = 0;                //
    std::uint64_t ring_dropped = 0;               // by hosts
    std::array<std::uint64_t, kTiers> dropped{};  // by ports of each tier
    std::uint64_t events = 0;
  };
  Totals totals() const;
  // Returns the number of frames that were sent and have neither arrived nor been dropped.
  std::size_t in_flight() const { return packets_.live() - waiting_in_rings() - delayed_; }
  std::size_t packets_most() const { return packets_.most(); }
  QueueRecord queues(Tier tier);
  void queues_clear();
  // Returns a digest of all frames sent so far, headers and times. Two equal runs have the same.
  std::uint64_t digest() const { return digest_; }

  // --- for hosts and flows ---
  PacketPool& packets() override { return packets_; }
  void schedule(TimeNs at, EventTarget& target, std::uint64_t argument) override {
    events_.schedule(at, target, argument);
  }
  void transmit(std::uint32_t packet) override;
  void transmit_at(TimeNs at, std::uint32_t packet) override;
  std::uint64_t nic_queued(std::uint32_t host) const override { return ports_[host].port().queued(now()); }
  TimeNs nic_time(std::uint64_t bytes) const override { return ports_[0].port().time_of(bytes); }
  void completed(Host& host, const protocol::Completion& completion) override;
  void ring_dropped() override { totals_.ring_dropped++; }
  std::span<std::byte> sent_bytes() override { return sent_; }
  std::span<std::byte> received_bytes() override { return received_; }
  void on_event(std::uint64_t argument) override;

 private:
  void arrived(std::uint32_t packet);
  TimeNs blurred(const Packet& packet, TimeNs at);
  std::size_t waiting_in_rings() const;

  FabricOptions options_;
  Tree tree_;
  EventQueue events_;
  Random random_;
  std::vector<TimeNs> left_;  // by host: when its last frame arrived at the switch
  PacketPool packets_;
  std::vector<OutputQueue> ports_;
  // All messages are sent from and received into the same memory. What a message holds is not this model's
  // subject (simulation/engine checks it).
  std::vector<std::byte> sent_, received_;
  std::vector<std::unique_ptr<TcpFlow>> flows_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::uint64_t digest_ = 0;
  std::uint64_t connects_ = 0;
  std::size_t delayed_ = 0;  // frames of transmit_at() that are not sent yet
  bool connect_failed_ = false;
  Totals totals_;
};

}  // namespace omx::simulation::fabric
