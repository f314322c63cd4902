// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/stalls_plan.h"

#include <iterator>

#include "base/random.h"

namespace omx::simulation {

namespace {

constexpr TimeNs kSecond = 1000 * protocol::kMillisecond;
// How often the engine repeats a packet within the time-out.
constexpr TimeNs kTries = 20;

HostOptions choose_host(Random& random, const StallsPlan& plan, std::uint32_t key, wire::Mode mode) {
  static constexpr std::uint32_t kMtus[] = {9000, 1500, 4200};
  static constexpr std::uint32_t kThresholds[] = {128, 1000, 4096, 16384};
  static constexpr std::uint32_t kRings[] = {16, 64, 1024};
  HostOptions host;
  protocol::Config& c = host.config;
  c.key = key;
  c.mode = mode;
  c.mtu = kMtus[random.below(std::size(kMtus))];
  c.rndv_threshold = kThresholds[random.below(std::size(kThresholds))];
  c.eager_frames = static_cast<std::uint32_t>(16 + random.below(240));
  c.reliability.peer_timeout = plan.timeout;
  c.reliability.keepalive_delay = plan.timeout / kTries;
  c.reliability.resend_delay = c.reliability.resend_delay_max = plan.timeout / kTries;
  if (random.chance(0.3)) c.unscheduled_bytes = 0;
  if (random.chance(0.2)) c.send_buffer_bytes = 64U << 10;
  host.bulk = random.chance(0.3);
  host.config.bulk.gso_frames = host.bulk && random.chance(0.5);
  if (random.chance(0.3)) host.gso_cut = 0.1;
  if (random.chance(0.2)) host.copies_seed = 1 + random.below(1U << 30);
  host.clock_ppm = static_cast<int>(random.below(401)) - 200;
  host.ring_frames = kRings[random.below(std::size(kRings))];
  host.port.queue_bytes = 16U << 20;
  return host;
}

// Draws a duration: too short to matter, near the limit, or longer than every time-out.
TimeNs choose_duration(Random& random, const StallsPlan& plan) {
  const TimeNs t = plan.timeout;
  const std::uint64_t dice = random.below(10);
  if (dice < 3) return 1 + random.below((t - plan.talk) * 9 / 10);
  if (dice < 5) return t - plan.talk + random.below(2 * plan.talk);
  return t + t / 10 + random.below(3 * t);
}

Outage choose_outage(Random& random, const StallsPlan& plan, std::uint32_t steps) {
  Outage outage;
  const std::uint64_t dice = random.below(100);
  outage.kind = dice < 40   ? Outage::Kind::stall
                : dice < 50 ? Outage::Kind::stall_both
                : dice < 75 ? Outage::Kind::cut
                : dice < 95 ? Outage::Kind::one_way
                            : Outage::Kind::restart;
  outage.host = static_cast<std::uint32_t>(random.below(plan.hosts.size()));
  outage.other =
      static_cast<std::uint32_t>((outage.host + 1 + random.below(plan.hosts.size() - 1)) % plan.hosts.size());
  outage.step = random.chance(0.2) ? 0 : static_cast<std::uint32_t>(random.below(steps * 3 / 4));
  outage.duration = choose_duration(random, plan);
  return outage;
}

}  // namespace

StallsPlan stalls_plan(std::uint64_t seed, std::uint32_t key, std::uint32_t steps) {
  Random random(seed ^ 0x57a115);
  StallsPlan plan;
  plan.world.seed = seed;
  plan.world.switch_port.delay = 500 + random.below(20'000);
  plan.world.switch_port.queue_bytes = 4U << 20;
  plan.timeout = (random.chance(0.5) ? 2 : 4) * kSecond;
  const bool lossy = random.chance(0.5);
  if (lossy) {
    plan.faults.loss = 0.01 * static_cast<double>(random.below(5));
    plan.faults.duplicate = random.chance(0.5) ? 0.02 : 0;
    plan.faults.reorder = random.chance(0.5) ? 0.05 : 0;
  }
  plan.talk = plan.timeout * (lossy ? 45 : 25) / 100;
  const std::uint64_t hosts = random.chance(0.7) ? 2 : 3;
  const wire::Mode mode = random.chance(0.85) ? wire::Mode::omx : wire::Mode::mxoe;
  for (std::uint64_t i = 0; i < hosts; i++) plan.hosts.push_back(choose_host(random, plan, key, mode));
  const std::uint64_t outages = 1 + random.below(3);
  for (std::uint64_t i = 0; i < outages; i++) plan.outages.push_back(choose_outage(random, plan, steps));
  return plan;
}

}  // namespace omx::simulation
