// SPDX-License-Identifier: BSD-3-Clause
// The hosts of the papers and the network between them: a cable for two hosts, as in the papers, or a switch
// for many.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "simulation/engine/port.h"
#include "simulation/nic/host.h"

namespace omx::simulation::nic {

enum class Peers : std::uint8_t {
  all,  // every process knows those of all other hosts
  hub,  // a process of a host knows one of the first host, in turn
};

struct NetworkOptions {
  Parameters parameters;
  HostSetup host;           // of all hosts
  std::uint32_t hosts = 0;  // hosts at a switch; 0: two hosts with a cable
  Peers peers = Peers::all;
  // Cores of the processes on all hosts but the first; empty: as on the first.
  std::vector<std::uint32_t> far_cores;
  std::uint32_t mtu = 1500;
  wire::Mode mode = wire::Mode::omx;
  std::uint32_t pull_blocks = 4;
  // Large messages are asked for as our engine does: within a window, by quiet requests. The original did
  // not.
  bool own_pulls = false;
  std::uint64_t seed = 1;  // draws when each host begins, within some microseconds
};

// Returns the configuration of every process: the real engine's, with the constants of the original.
protocol::Config engine_config(const NetworkOptions& options);

class Network {
 public:
  explicit Network(const NetworkOptions& options);

  std::uint32_t host_count() const { return static_cast<std::uint32_t>(hosts_.size()); }
  Host& host(std::uint32_t index) { return *hosts_[index]; }
  Process& process(std::uint32_t host, std::uint32_t index = 0) { return hosts_[host]->process(index); }
  Scheduler& scheduler() { return scheduler_; }
  TimeNs now() const { return scheduler_.now(); }
  std::uint64_t digest() const { return digest_; }

  // Connects all processes that know each other, in both directions. None of this is measured. Returns false
  // on failure.
  bool connect_all();
  bool know(std::uint32_t host, std::uint32_t process, std::uint32_t to, std::uint32_t peer);
  protocol::Peer* peer(std::uint32_t host, std::uint32_t process, std::uint32_t to, std::uint32_t index);
  // Returns the process of the first host that a process of another host knows, unless every process knows
  // all.
  std::uint32_t hub_process(std::uint32_t host, std::uint32_t process);

  // Returns false if nothing more happens, or the time is over.
  bool run_until(const std::function<bool()>& condition, TimeNs limit = 600'000'000'000ULL);
  void run_for(TimeNs time);

  // Called for each frame that is about to leave a host, which it may change.
  std::function<void(std::uint32_t host, SimFrame& frame)> on_transmit;
  // Puts a frame of an unknown type on the cable, as large as one with a message of `bytes` bytes.
  void send_invalid(std::uint32_t from, std::uint32_t bytes);

 private:
  void transmit(std::uint32_t from, std::uint32_t frame);
  void through_switch(std::uint32_t from, std::uint32_t frame);
  std::uint64_t connect(std::uint32_t host, std::uint32_t process);

  NetworkOptions options_;
  Scheduler scheduler_;
  FramePool frames_;
  std::vector<Port> ports_;         // of hosts
  std::vector<Port> switch_ports_;  // to hosts
  std::vector<std::unique_ptr<Host>> hosts_;
  std::uint64_t digest_ = 0;
};

}  // namespace omx::simulation::nic
