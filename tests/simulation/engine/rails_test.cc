// SPDX-License-Identifier: BSD-3-Clause
// Two hosts with several boards each, every board on a switch of its own. Tests how large messages are
// striped, and what happens when cables are cut and mended in the middle of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "pair_world.h"
#include "protocol/state/state.h"
#include "simulation/engine/world.h"

namespace omx::simulation {
namespace {

using protocol::Completion;
using protocol::Counter;
using protocol::kMillisecond;
using protocol::Status;

constexpr std::uint64_t kGigabit = 1'000'000'000;

PortLimits cable(std::uint64_t bits_per_second) {
  return {.bits_per_second = bits_per_second, .delay = 2'000, .queue_bytes = 1U << 20};
}

// Two hosts with a cable of each rate.
class RailsWorld {
 public:
  explicit RailsWorld(std::vector<std::uint64_t> rates, std::uint64_t seed = 1, std::uint32_t mtu = 9000)
      : world({.seed = seed, .switch_port = cable(rates[0])}) {
    for (int i = 0; i < 2; i++) {
      HostOptions options;
      options.config.mtu = mtu;
      options.port = cable(rates[0]);
      for (std::size_t rail = 1; rail < rates.size(); rail++) options.rails.push_back(cable(rates[rail]));
      world.add(options);
    }
  }

  protocol::Endpoint& engine(std::uint32_t i) { return world.host(i).engine(); }
  std::uint64_t count(std::uint32_t i, Counter id) { return world.host(i).counters()[id]; }
  protocol::Peer* peer_of(std::uint32_t i) { return engine(i).find_peer(World::nic_of(1 - i), 0); }
  std::uint64_t carried(std::uint32_t to, unsigned rail) { return world.switch_port(to, rail).bytes; }

  void connect() {
    const auto r = engine(0).connect(world.now(), World::nic_of(1), 0, 0, 0, nullptr, false, true);
    world.host(0).deadline_check();
    ASSERT_TRUE(world.run_until([&] { return engine(0).done(*r); }, 10 * kSecond));
    ASSERT_EQ(engine(0).consume(*r).status, Status::success);
  }

  // Sends a message from host 0 to host 1 while `meanwhile` runs. Returns the time that it takes.
  TimeNs transfer(
      std::uint32_t bytes, std::uint64_t match, const std::function<void()>& meanwhile = [] {}) {
    std::vector<std::byte> out(bytes), in(bytes);
    Random random(match + 1);
    for (auto& byte : out) byte = static_cast<std::byte>(random.next());
    const protocol::Segment to{in.data(), bytes}, from{out.data(), bytes};
    const TimeNs began = world.now();
    const auto receive = engine(1).receive(world.now(), {.segments = {&to, 1}, .match_info = match});
    const auto send =
        engine(0).send(world.now(), {.peer = peer_of(0), .segments = {&from, 1}, .match_info = match});
    world.host(0).deadline_check();
    world.host(1).deadline_check();
    meanwhile();
    EXPECT_TRUE(world.run_until([&] { return engine(1).done(*receive); }, 60 * kSecond));
    const TimeNs took = world.now() - began;
    EXPECT_TRUE(world.run_until([&] { return engine(0).done(*send); }, 60 * kSecond));
    EXPECT_EQ(engine(1).consume(*receive).status, Status::success);
    EXPECT_EQ(engine(0).consume(*send).status, Status::success);
    EXPECT_TRUE(in == out);
    return took;
  }

  World world;
};

constexpr std::uint32_t kLarge = 4U << 20;

double gigabits(std::uint32_t bytes, TimeNs time) {
  return static_cast<double>(bytes) * 8 / static_cast<double>(time);
}

TEST(Rails, stripe__two_equal_boards_carry_nearly_twice_as_much) {
  for (const std::uint32_t mtu : {9000U, 1500U}) {
    RailsWorld w({kGigabit, kGigabit}, 1, mtu);
    w.connect();
    w.transfer(kLarge, 0);  // proves the paths
    for (std::uint64_t i = 1; i < 5; i++) EXPECT_GT(gigabits(kLarge, w.transfer(kLarge, i)), 1.85) << mtu;
    EXPECT_EQ(w.count(1, Counter::rail_suspected), 0U);
    EXPECT_EQ(w.count(1, Counter::pull_rerequest_rail), 0U);
  }
}

TEST(Rails, stripe__is_by_the_rates_of_the_boards) {
  RailsWorld w({kGigabit, 4 * kGigabit});
  w.connect();
  for (std::uint64_t i = 0; i < 3; i++) w.transfer(kLarge, i);
  const std::uint64_t slow = w.carried(1, 0), fast = w.carried(1, 1);
  EXPECT_GT(gigabits(kLarge, w.transfer(kLarge, 3)), 3.5);
  const double share =
      static_cast<double>(w.carried(1, 1) - fast) / static_cast<double>(w.carried(1, 0) - slow);
  EXPECT_GT(share, 2.5);
  EXPECT_LT(share, 6.0);
}

TEST(Rails, stripe__small_messages_take_the_nearest) {
  RailsWorld w({kGigabit, kGigabit});
  w.connect();
  for (std::uint64_t i = 0; i < 20; i++) w.transfer(20000, i);
  EXPECT_EQ(w.carried(1, 1), 0U);
}

TEST(Rails, cut__of_either_board_costs_a_repetition_and_the_other_goes_on) {
  for (unsigned rail = 0; rail < 2; rail++) {
    RailsWorld w({kGigabit, kGigabit});
    w.connect();
    w.transfer(kLarge, 0);
    const TimeNs whole = w.transfer(kLarge, 1);
    const TimeNs cut = w.transfer(kLarge, 2, [&] {
      w.world.run_for(whole / 2);
      w.world.cut(1, rail, true);
    });
    EXPECT_LT(cut, 2 * whole + 60 * kMillisecond) << rail;
    EXPECT_GE(w.count(1, Counter::rail_suspected), 1U) << rail;
    // Everything that follows takes the other path, even short messages.
    for (std::uint64_t i = 3; i < 6; i++) EXPECT_GT(gigabits(kLarge, w.transfer(kLarge, i)), 0.85) << rail;
    EXPECT_LT(w.transfer(100, 10), 2 * kMillisecond) << rail;

    w.world.cut(1, rail, false);
    w.world.run_for(2 * kSecond);
    w.transfer(kLarge, 11);  // probes the path again
    EXPECT_GT(gigabits(kLarge, w.transfer(kLarge, 12)), 1.85) << rail;
    EXPECT_EQ(w.engine(1).state().peers.by_index[1]->rails->home, 0) << rail;
  }
}

TEST(Rails, cut__of_the_nearest_board_while_only_short_messages_are_sent) {
  RailsWorld w({kGigabit, kGigabit});
  w.connect();
  w.transfer(100, 0);
  w.world.cut(0, 0, true);
  EXPECT_LT(w.transfer(100, 1), 200 * kMillisecond);
  EXPECT_LT(w.transfer(100, 2), 5 * kMillisecond);
  w.world.cut(0, 0, false);
  w.world.run_for(2 * kSecond);
  for (std::uint64_t i = 3; i < 10; i++) w.transfer(100, i);
  w.world.run_for(2 * kSecond);
  const std::uint64_t before = w.carried(1, 0);
  w.transfer(100, 10);
  EXPECT_GT(w.carried(1, 0), before);
}

TEST(Rails, cut__of_all_boards_only_delays) {
  RailsWorld w({kGigabit, kGigabit});
  w.connect();
  w.transfer(kLarge, 0, [&] {
    w.world.run_for(10 * kMillisecond);
    for (unsigned rail = 0; rail < 2; rail++) w.world.cut(1, rail, true);
    w.world.run_for(500 * kMillisecond);
    for (unsigned rail = 0; rail < 2; rail++) w.world.cut(1, rail, false);
  });
  w.world.run_for(2 * kSecond);
  w.transfer(kLarge, 1);
  EXPECT_GT(gigabits(kLarge, w.transfer(kLarge, 2)), 1.85);
}

TEST(Rails, peers__that_have_one_board_see_nothing_of_it) {
  RailsWorld w({kGigabit, kGigabit});
  HostOptions plain;
  plain.port = cable(kGigabit);
  w.world.add(plain);
  const auto r = w.engine(0).connect(w.world.now(), World::nic_of(2), 0, 0, 0, nullptr, false, true);
  w.world.host(0).deadline_check();
  ASSERT_TRUE(w.world.run_until([&] { return w.engine(0).done(*r); }, kSecond));
  w.engine(0).consume(*r);
  EXPECT_EQ(w.engine(0).find_peer(World::nic_of(2), 0)->rails, nullptr);
  EXPECT_EQ(w.engine(2).find_peer(World::nic_of(0), 0)->rails, nullptr);
}

// Every message arrives once and whole, whatever is lost, cut and mended. A failure names its seed.
class RailsSeed : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RailsSeed, cuts__and_loss_at_any_time_lose_nothing) {
  const std::uint64_t seed = GetParam();
  Random random(seed);
  std::vector<std::uint64_t> rates(2 + random.below(2));
  for (auto& rate : rates) rate = kGigabit * (1 + random.below(10));
  RailsWorld w(rates, seed, random.below(2) ? 1500 : 9000);
  w.connect();
  if (random.below(2)) w.world.faults().plan.loss = 0.01;
  if (random.below(3) == 0) w.world.faults().plan.reorder = 0.02;
  if (random.below(4) == 0) w.world.faults().plan.duplicate = 0.02;
  for (std::uint64_t i = 0; i < 12; i++) {
    const auto bytes = static_cast<std::uint32_t>(1 + random.below(random.below(3) ? kLarge : 40000));
    SCOPED_TRACE("message " + std::to_string(i));
    w.transfer(bytes, i, [&] {
      for (unsigned n = static_cast<unsigned>(random.below(4)); n > 0; n--) {
        w.world.run_for(random.below(20 * kMillisecond));
        w.world.cut(static_cast<std::uint32_t>(random.below(2)),
                    static_cast<unsigned>(random.below(rates.size())), random.below(2) != 0);
      }
      // At least one of them works.
      const auto rail = static_cast<unsigned>(random.below(rates.size()));
      for (std::uint32_t host = 0; host < 2; host++) w.world.cut(host, rail, false);
    });
    if (HasFailure()) break;
  }
  w.world.faults().plan = {};
  for (std::uint32_t host = 0; host < 2; host++)
    for (unsigned rail = 0; rail < rates.size(); rail++) w.world.cut(host, rail, false);
  // All working paths are used again, and the home path is the first one.
  const auto settled = [&] {
    const protocol::Rails &at_sender = *w.peer_of(0)->rails, &at_receiver = *w.peer_of(1)->rails;
    unsigned up = 0;
    for (unsigned rail = 0; rail < rates.size(); rail++) up += at_receiver.paths[rail].up();
    return at_sender.home == 0 && at_receiver.home == 0 && up == rates.size();
  };
  for (std::uint64_t i = 100; i < 160 && !settled() && !HasFailure(); i++) {
    w.world.run_for(200 * kMillisecond);
    w.transfer(100'000, i);
  }
  EXPECT_TRUE(settled());
  w.world.run_for(5 * kSecond);
  EXPECT_EQ(w.world.frames().live(), 0U);
}

INSTANTIATE_TEST_SUITE_P(seeds, RailsSeed, testing::Range<std::uint64_t>(1, 101));

}  // namespace
}  // namespace omx::simulation
