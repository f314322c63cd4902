// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/engine/random_network.h"

#include <iterator>

#include "base/random.h"

namespace omx::simulation {

namespace {

WorldOptions choose_world(Random& random, std::uint64_t seed) {
  WorldOptions options;
  options.seed = seed;
  static constexpr std::uint64_t kRates[] = {1'000'000'000, 10'000'000'000, 100'000'000'000};
  static constexpr std::uint64_t kQueues[] = {64U << 10, 256U << 10, 4U << 20};
  options.switch_port.bits_per_second = kRates[random.below(3)];
  options.switch_port.queue_bytes = kQueues[random.below(3)];
  options.switch_port.delay = 500 + random.below(20'000);
  if (random.chance(0.1)) options.path_mtu = 1500;
  return options;
}

FaultPlan choose_faults(Random& random, bool may_corrupt) {
  FaultPlan plan;
  plan.loss = random.chance(0.6) ? 0.01 * static_cast<double>(random.below(6)) : 0;
  plan.duplicate = random.chance(0.5) ? 0.01 * static_cast<double>(random.below(4)) : 0;
  plan.reorder = random.chance(0.5) ? 0.02 * static_cast<double>(random.below(5)) : 0;
  plan.spike = random.chance(0.2) ? 0.001 : 0;
  plan.burst_start = random.chance(0.2) ? 0.001 : 0;
  if (may_corrupt && random.chance(0.5)) plan.corrupt = 0.005;
  static constexpr wire::PacketType kTypes[] = {
      wire::PacketType::truc,   wire::PacketType::connect, wire::PacketType::rndv, wire::PacketType::pull,
      wire::PacketType::notify, wire::PacketType::medium,  wire::PacketType::probe};
  if (random.chance(0.3)) {
    plan.lost_type = kTypes[random.below(std::size(kTypes))];
    plan.lost_type_rate = 0.3;
  }
  return plan;
}

}  // namespace

RandomNetwork random_network(std::uint64_t seed, std::uint32_t key) {
  Random random(seed ^ 0x5717c4);
  RandomNetwork network;
  network.world = choose_world(random, seed);
  const auto hosts = static_cast<std::uint32_t>(2 + random.below(4));
  enum class Kind { extended, mxoe, legacy, mixed };
  const std::uint64_t dice = random.below(100);
  const Kind kind = dice < 60   ? Kind::extended
                    : dice < 75 ? Kind::mxoe
                    : dice < 88 ? Kind::legacy
                                : Kind::mixed;
  static constexpr std::uint32_t kMtus[] = {9000, 1500, 4200, 3000, 1280, 576};
  static constexpr std::uint32_t kThresholds[] = {128, 1000, 8192, 32768};
  // Windows of one frame, of little, and of the default.
  static constexpr std::uint32_t kWindows[] = {1, 64U << 10, 2U << 20, 2U << 20};
  const std::uint32_t mtu = kMtus[random.below(kind == Kind::extended ? 6 : 4)];
  const bool path_is_short = network.world.path_mtu != 0;
  const bool checksum = kind != Kind::legacy && kind != Kind::mixed && random.chance(0.4);
  const bool small_memory = random.chance(0.2);
  // So little memory that data stay with their senders. A host that cannot park messages needs room for one
  // at least.
  const bool parks = !random.chance(0.2);
  const bool tiny_memory = kind == Kind::extended && parks && random.chance(0.3);
  for (std::uint32_t i = 0; i < hosts; i++) {
    HostOptions host;
    protocol::Config& c = host.config;
    c.key = key;
    c.mtu = kind == Kind::extended && random.chance(0.3) ? kMtus[random.below(6)] : mtu;
    // Without the extension no host finds out that a path is narrower than the MTU.
    if (path_is_short && kind != Kind::extended) c.mtu = 1500;
    c.mode = kind == Kind::mxoe ? wire::Mode::mxoe : wire::Mode::omx;
    c.extension = kind == Kind::extended || kind == Kind::mxoe || (kind == Kind::mixed && i % 2 == 0);
    c.checksum = checksum;
    c.rndv_threshold = kThresholds[random.below(4)];
    c.pull_window_bytes = kWindows[random.below(4)];
    c.pull_blocks = static_cast<std::uint32_t>(1 + random.below(8));
    c.eager_frames = static_cast<std::uint32_t>(8 + random.below(250));
    if (small_memory) c.buffer_bytes = 512U << 10;
    c.parks = parks;
    if (tiny_memory && random.chance(0.6)) c.buffer_bytes = 4096U << (2 * random.below(3));
    if (random.chance(0.2)) c.send_buffer_bytes = 64U << 10;
    host.bulk = kind != Kind::legacy && random.chance(0.7);
    if (random.chance(0.2)) host.bulk_dies_at = random.below(2) * random.below(200) * protocol::kMillisecond;
    c.bulk.gso_frames = host.bulk && random.chance(0.7);
    // Smaller windows hold no GSO frames.
    if (c.bulk.gso_frames) c.pull_window_bytes = std::max(c.pull_window_bytes, 1U << 20);
    if (random.chance(0.5)) host.gso_cut = random.chance(0.3) ? 1.0 : 0.05;
    if (random.chance(0.4)) host.copies_seed = 1 + random.below(1U << 30);
    host.clock_ppm = static_cast<int>(random.below(401)) - 200;
    host.ring_frames = random.chance(0.2) ? 64 : 2048;
    host.port.bits_per_second = 10'000'000'000;
    host.port.queue_bytes = 16U << 20;  // the kernel makes a sender wait instead of dropping
    network.hosts.push_back(host);
  }
  network.faults = choose_faults(random, checksum);
  return network;
}

void random_congestion(std::uint64_t seed, RandomNetwork& network) {
  Random random(seed ^ 0xc09e57ed);
  static constexpr std::uint64_t kRates[] = {100'000'000, 1'000'000'000, 10'000'000'000};
  static constexpr std::uint64_t kQueues[] = {24U << 10, 64U << 10, 192U << 10, 1U << 20};
  SharedPort shared;
  shared.limits = network.world.switch_port;
  shared.limits.bits_per_second = kRates[random.below(std::size(kRates))];
  shared.limits.queue_bytes = kQueues[random.below(std::size(kQueues))];
  const bool others = random.chance(0.6), all = random.chance(0.5);
  const std::uint64_t one = random.below(network.hosts.size());
  for (std::uint64_t i = 0; i < network.hosts.size(); i++) {
    if (!all && i != one) continue;
    if (others) shared.others_seed = 1 + random.below(1U << 30);
    network.hosts[i].shared = shared;
  }
  if (random.chance(0.5)) {
    network.faults.loss = network.faults.burst_start = 0;
    network.faults.lost_type.reset();
  }
  // The last draw, so that older seeds keep their networks.
  static constexpr std::uint64_t kMarks[] = {0, 0, 3000, 20'000};
  const std::uint64_t marks = kMarks[random.below(std::size(kMarks))];
  for (HostOptions& host : network.hosts)
    if (host.shared) host.shared->mark_bytes = marks;
}

}  // namespace omx::simulation
