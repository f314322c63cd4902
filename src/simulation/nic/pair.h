// SPDX-License-Identifier: BSD-3-Clause
// Two hosts of the papers and the cable between them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "simulation/nic/host.h"
#include "simulation/port.h"

namespace omx::simulation::nic {

struct PairOptions {
  Parameters parameters;
  HostSetup host;  // both
  std::uint32_t mtu = 1500;
  wire::Mode mode = wire::Mode::omx;
  std::uint32_t pull_blocks = 4;
  std::uint64_t seed = 1;  // when each host begins, within some microseconds
};

class Pair {
 public:
  explicit Pair(const PairOptions& options);

  Host& host(std::uint32_t index) { return *hosts_[index]; }
  Process& process(std::uint32_t host, std::uint32_t index = 0) { return hosts_[host]->process(index); }
  Later& later() { return later_; }
  TimeNs now() const { return later_.now(); }
  std::uint64_t digest() const { return digest_; }

  // Of all processes of one host to all of the other, both ways; none is measured. False: it failed.
  bool connect_all();
  protocol::Partner* partner(std::uint32_t host, std::uint32_t process, std::uint32_t peer);

  // False: nothing happens any more, or the time is over.
  bool run_until(const std::function<bool()>& condition, TimeNs limit = 600'000'000'000ULL);
  void run_for(TimeNs time);

  // May change a frame that is about to leave a host.
  std::function<void(std::uint32_t host, SimFrame& frame)> on_transmit;
  // Puts a frame of an unknown type on the cable, as large as a message of so many bytes.
  void send_invalid(std::uint32_t from, std::uint32_t bytes);

 private:
  void transmit(std::uint32_t from, std::uint32_t frame);

  PairOptions options_;
  Later later_;
  FramePool frames_;
  std::vector<Port> ports_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::uint64_t digest_ = 0;
};

}  // namespace omx::simulation::nic
