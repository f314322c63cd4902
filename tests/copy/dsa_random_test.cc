// SPDX-License-Identifier: BSD-3-Clause
// Test 8 of docs/spec/copy-offload.md 11: everything at once, by seed. The result equals memcpy. Nothing is
// written beside it, no descriptor is left over, and only lost pieces fail.
#include "tests/support/dsa_rig.h"

namespace omx::copy {
namespace {

using Completion = EmulatedScript::Completion;
constexpr std::size_t kTryPlaces = 24, kTryPlace = 3 * EmulatedDevice::kPage;
constexpr std::byte kTryGuard{0xee};

EmulatedScript script_of(Random& random) {
  EmulatedScript script;
  script.seed = random.next();
  script.completion = static_cast<Completion>(random.below(4));
  script.delay_ns = random.below(100'000);
  script.queue_depth = 1 + random.below(40);
  script.busy_first = static_cast<unsigned>(random.below(4));
  script.accept_most = 1 + random.below(8);
  script.transfer_limit = static_cast<std::uint32_t>(500 + random.below(20'000));
  script.backward = random.chance(0.3);
  script.fault_chance = random.chance(0.5) ? 0.2 : 0;
  if (random.chance(0.2)) script.lost_chance = 0.02;
  if (random.chance(0.4)) script.list_limit = static_cast<std::uint32_t>(2 + random.below(31));
  script.drains_answer = random.chance(0.5);
  if (random.chance(0.2)) script.error_after = random.below(100);
  if (random.chance(0.3))
    script.inject[random.below(100)] = static_cast<std::uint8_t>(2 + random.below(0x7d));
  return script;
}

struct Try {
  explicit Try(std::uint64_t seed)
      : random(seed),
        script(script_of(random)),
        rig(script,
            {.most_outstanding = static_cast<std::uint32_t>(1 + random.below(40)),
             .max_transfer = script.transfer_limit,
             .max_list = script.list_limit,
             .full_ns = random.below(200'000),
             .lost_ns = 2'000'000},
            1 + random.below(8)),
        source(kTryPlaces * 3, seed),
        destination(kTryPlaces * 3),
        expected(destination.size(), kTryGuard) {
    std::memset(destination.data(), static_cast<int>(kTryGuard), destination.size());
  }

  void submit(std::size_t place) {
    const std::size_t bytes = random.below(kTryPlace);
    const std::size_t in = place * kTryPlace + random.below(kTryPlace - bytes);
    const std::size_t from = random.below(source.size() - bytes);
    const Piece piece{source.data() + from, destination.data() + in, bytes, random.chance(0.5)};
    const Submission s = rig.engine->submit(piece);
    if (s.answer == Answer::busy) {
      ASSERT_EQ(rig.engine->outstanding(), rig.engine->capabilities().most_outstanding);
    }
    if (s.answer == Answer::unavailable) {
      ASSERT_STRNE(rig.engine->disabled_reason(), "");
      std::memcpy(piece.destination, piece.source, bytes);  // as owners do
    }
    if (s.answer != Answer::busy) std::memcpy(expected.data() + in, piece.source, bytes);
  }

  void go() {
    for (std::size_t place = 0; place < kTryPlaces; place++) {
      submit(place);
      if (random.chance(0.4)) rig.engine->poll(static_cast<std::uint32_t>(random.below(10)));
      if (random.chance(0.4)) rig.surroundings.advance(random.below(300'000));
    }
    EXPECT_TRUE(rig.engine->drain(kNever));
    EXPECT_EQ(rig.engine->completed(), rig.engine->submitted());
    EXPECT_TRUE(same_bytes(destination.data(), expected.data(), expected.size()));
    EXPECT_EQ(rig.device.violations(), 0U);
    std::uint64_t failures = 0;
    for (Ticket t = 1; t <= rig.engine->submitted(); t++) failures += rig.engine->failed(t);
    EXPECT_EQ(failures, rig.count(Counter::failed));
    if (failures == 0) return;
    EXPECT_GT(script.lost_chance, 0) << "failed without a cause";
    EXPECT_GT(rig.device.pending(), 0U) << "failed although the device is done";
  }

  Random random;
  EmulatedScript script;
  DsaRig rig;
  Pages source, destination;
  std::vector<std::byte> expected;
};

TEST(dsa_random, equals_memcpy) {
  for (std::uint64_t seed = 1; seed <= 1500 && !::testing::Test::HasFailure(); seed++) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Try run(seed);
    run.go();
    // Without losses nothing may be left over.
    if (run.script.lost_chance == 0) {
      EXPECT_EQ(run.rig.device.pending(), 0U);
    }
    run.rig.engine.reset();
    run.rig.device.complete_late();
  }
}

}  // namespace
}  // namespace omx::copy
