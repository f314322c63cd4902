// SPDX-License-Identifier: BSD-3-Clause
// Two hosts and a bad cable, for tests that need more frames than the unit tests' network carries quickly.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "protocol/state/state.h"
#include "simulation/engine/world.h"

namespace omx::simulation {

inline constexpr TimeNs kSecond = 1000 * protocol::kMillisecond;

// The kind of both hosts.
struct PairKind {
  wire::Mode mode = wire::Mode::omx;
  bool extension = true;
};
inline std::string pair_name(const testing::TestParamInfo<PairKind>& kind) {
  return std::string(kind.param.mode == wire::Mode::omx ? "omx" : "mxoe") +
         (kind.param.extension ? "_extended" : "_legacy");
}
inline auto all_pairs() {
  return testing::Values(PairKind{wire::Mode::omx, true}, PairKind{wire::Mode::omx, false},
                         PairKind{wire::Mode::mxoe, true}, PairKind{wire::Mode::mxoe, false});
}

class PairWorld {
 public:
  PairWorld(const PairKind& kind, std::uint32_t mtu,
            std::uint64_t bits_per_second = PortLimits{}.bits_per_second)
      : world(WorldOptions{}) {
    for (int i = 0; i < 2; i++) {
      HostOptions options;
      options.config.mode = kind.mode;
      options.config.extension = kind.extension;
      options.config.mtu = mtu;
      options.port.queue_bytes = 64U << 20;
      options.port.bits_per_second = bits_per_second;
      world.add(options);
    }
  }

  protocol::Endpoint& engine(std::uint32_t i) { return world.host(i).engine(); }
  TimeNs clock(std::uint32_t i) { return world.host(i).clock(); }
  std::uint64_t count(std::uint32_t i, protocol::Counter id) { return world.host(i).counters()[id]; }
  protocol::Peer* peer_of(std::uint32_t i) { return engine(i).find_peer(World::nic_of(1 - i), 0); }

  protocol::Peer* connect(std::uint32_t from) {
    const auto r = engine(from).connect(clock(from), World::nic_of(1 - from), 0, 0, 0, nullptr, false, true);
    world.host(from).deadline_check();
    if (!world.run_until([&] { return engine(from).done(*r); }, 3000 * kSecond)) return nullptr;
    const protocol::Completion c = engine(from).consume(*r);
    return c.status == protocol::Status::success ? c.peer : nullptr;
  }
  bool connect_both() { return connect(0) && connect(1); }

  World world;
};

}  // namespace omx::simulation
