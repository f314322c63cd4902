// SPDX-License-Identifier: BSD-3-Clause
// Hosts of the papers and what is between them: a cable for two, as the papers had it, or a switch for many.
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
  HostSetup host;           // all
  std::uint32_t hosts = 0;  // at a switch; 0: two with a cable
  Peers peers = Peers::all;
  std::vector<std::uint32_t> far_cores;  // of the processes of the hosts but the first; empty: as there
  std::uint32_t mtu = 1500;
  wire::Mode mode = wire::Mode::omx;
  std::uint32_t pull_blocks = 4;
  std::uint64_t seed = 1;  // when each host begins, within some microseconds
};

// Of every process: the real engine's, with the constants of the original.
protocol::Config engine_config(const NetworkOptions& options);

class Network {
 public:
  explicit Network(const NetworkOptions& options);

  std::uint32_t host_count() const { return static_cast<std::uint32_t>(hosts_.size()); }
  Host& host(std::uint32_t index) { return *hosts_[index]; }
  Process& process(std::uint32_t host, std::uint32_t index = 0) { return hosts_[host]->process(index); }
  Later& later() { return later_; }
  TimeNs now() const { return later_.now(); }
  std::uint64_t digest() const { return digest_; }

  // All processes that know each other, both ways; none is measured. False: it failed.
  bool connect_all();
  bool know(std::uint32_t host, std::uint32_t process, std::uint32_t to, std::uint32_t peer);
  protocol::Partner* partner(std::uint32_t host, std::uint32_t process, std::uint32_t to, std::uint32_t peer);
  // The process of the first host that a process of another one knows, if not all do.
  std::uint32_t hub_process(std::uint32_t host, std::uint32_t process);

  // False: nothing happens any more, or the time is over.
  bool run_until(const std::function<bool()>& condition, TimeNs limit = 600'000'000'000ULL);
  void run_for(TimeNs time);

  // May change a frame that is about to leave a host.
  std::function<void(std::uint32_t host, SimFrame& frame)> on_transmit;
  // Puts a frame of an unknown type on the cable, as large as a message of so many bytes.
  void send_invalid(std::uint32_t from, std::uint32_t bytes);

 private:
  void transmit(std::uint32_t from, std::uint32_t frame);
  void through_switch(std::uint32_t from, std::uint32_t frame);
  std::uint64_t connect(std::uint32_t host, std::uint32_t process);

  NetworkOptions options_;
  Later later_;
  FramePool frames_;
  std::vector<Port> ports_;         // of hosts
  std::vector<Port> switch_ports_;  // to hosts
  std::vector<std::unique_ptr<Host>> hosts_;
  std::uint64_t digest_ = 0;
};

}  // namespace omx::simulation::nic
