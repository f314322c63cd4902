// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/fabric/peer_memory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "simulation/fabric/fabric.h"

namespace omx::simulation::fabric {

namespace {

constexpr std::uint32_t kSmall = 8, kLarge = 256U << 10;
constexpr TimeNs kIdle = 2000 * protocol::kMillisecond;  // all timers have run out
constexpr TimeNs kLimit = 600'000 * protocol::kMillisecond;

// An endpoint is a peer of itself, which costs as much as any other.
PeerMemoryStep measure(Host& host) {
  const std::uint32_t all = host.engine().peer_count();
  return {all - 1, static_cast<double>(host.engine().memory().peers) / all};
}

}  // namespace

PeerMemoryResult peer_memory_run(const FabricOptions& options) {
  FabricOptions with = options;
  with.message_most = std::max(options.message_most, kLarge);
  Fabric fabric(with);
  PeerMemoryResult result;
  std::uint64_t came = 0;
  fabric.on_completion = [&](Host&, const protocol::Completion& completion) {
    if (completion.status != protocol::Status::success) result.failure = "a request failed";
    came += completion.kind == protocol::RequestKind::receive;
  };
  Host& first = fabric.host(0);
  const std::uint32_t others = fabric.tree().hosts() - 1;
  result.object = first.engine().memory().peer_object;
  result.known = first.engine().peer_count() - 1;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t i = 1; i <= others; i++) pairs.emplace_back(0, i);
  if (!fabric.connect(pairs)) {
    result.failure = "not all hosts connected";
    return result;
  }
  result.connected = measure(first);
  for (const auto& [length, step] : {std::pair{kSmall, &result.small}, std::pair{kLarge, &result.large}}) {
    came = 0;
    for (std::uint32_t i = 1; i <= others; i++) {
      const std::uint64_t before = came;
      first.send(i, length, i);
      fabric.host(i).send(0, length, i);
      if (!fabric.run_until([&] { return came == before + 2; }, kLimit))
        result.failure = "a message never came";
    }
    fabric.run_for(kIdle);
    *step = measure(first);
  }
  return result;
}

}  // namespace omx::simulation::fabric
