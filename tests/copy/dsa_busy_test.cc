// SPDX-License-Identifier: BSD-3-Clause
// Test 4 of docs/spec/copy-offload.md 11: a queue that takes nothing, for a while or indefinitely.
#include "tests/support/dsa_rig.h"

namespace omx::copy {
namespace {

TEST(dsa_busy, for_a_while_then_accepted) {
  EmulatedScript script;
  script.busy_first = 5;
  DsaRig rig(script);
  const Pages source(1, 1), destination(1);
  EXPECT_EQ(rig.engine->submit({source.data(), destination.data(), 1000}).answer, Answer::accepted);
  EXPECT_EQ(rig.device.accepted(), 0U);
  for (int i = 0; i < 4; i++) EXPECT_EQ(rig.engine->poll(10), 0U);
  EXPECT_EQ(rig.device.accepted(), 0U);
  rig.engine->poll(10);
  EXPECT_EQ(rig.device.accepted(), 1U);
  EXPECT_EQ(rig.engine->poll(10), 1U);
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 1000));
  EXPECT_EQ(rig.count(Counter::queue_full), 5U);
  EXPECT_EQ(rig.count(Counter::cpu_bytes), 0U);
}

TEST(dsa_busy, for_ever_ends_in_a_cpu_copy_within_the_deadline) {
  EmulatedScript script;
  script.queue_depth = 0;
  DsaRig rig(script, {.full_ns = 1000});
  const Pages source(1, 1), destination(1);
  rig.engine->submit({source.data(), destination.data(), 1000});
  rig.surroundings.advance(999);
  EXPECT_EQ(rig.engine->poll(10), 0U);
  rig.surroundings.advance(1);
  EXPECT_EQ(rig.engine->poll(10), 1U);
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 1000));
  EXPECT_EQ(rig.count(Counter::cpu_busy), 1U);
  EXPECT_EQ(rig.device.accepted(), 0U);
  EXPECT_STREQ(rig.engine->disabled_reason(), "") << "others may fill a shared queue; that is no error";
  EXPECT_FALSE(rig.engine->failed(1));
}

TEST(dsa_busy, does_not_hand_late_pieces_to_the_device_twice) {
  EmulatedScript script;
  script.queue_depth = 0;
  DsaRig rig(script, {.full_ns = 1000}, 8);
  const Pages source(2, 1), destination(2);
  rig.engine->submit({source.data(), destination.data(), 1000});
  rig.engine->poll(1);
  rig.surroundings.advance(600);
  rig.engine->submit({source.data() + 1000, destination.data() + 1000, 1000});
  rig.engine->poll(1);
  rig.surroundings.advance(600);
  rig.engine->poll(1);  // the first piece is late, the second is not
  EXPECT_EQ(rig.engine->completed(), 1U);
  rig.device.script().queue_depth = 8;
  EXPECT_TRUE(rig.engine->drain(kNever));
  EXPECT_EQ(rig.moves(), 1U);
  EXPECT_EQ(rig.device.seen()[0].source, reinterpret_cast<std::uintptr_t>(source.data() + 1000));
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 2000));
}

TEST(dsa_busy, pieces_wait_for_a_batch_or_a_poll) {
  DsaRig rig({}, {}, 4);
  const Pages source(1, 1), destination(1);
  for (std::size_t i = 0; i < 3; i++) rig.engine->submit({source.data(), destination.data() + 100 * i, 100});
  EXPECT_EQ(rig.device.accepted(), 0U);
  rig.engine->submit({source.data(), destination.data() + 300, 100});
  EXPECT_EQ(rig.device.accepted(), 4U);
  rig.engine->submit({source.data(), destination.data() + 400, 100});
  EXPECT_EQ(rig.device.accepted(), 4U);
  rig.engine->poll(0);
  EXPECT_EQ(rig.device.accepted(), 5U);
  EXPECT_TRUE(rig.engine->drain(kNever));
}

TEST(dsa_busy, a_drain_has_a_deadline) {
  EmulatedScript script;
  script.completion = EmulatedScript::Completion::never;
  DsaRig rig(script);
  const Pages source(1, 1), destination(1);
  rig.engine->submit({source.data(), destination.data(), 100});
  EXPECT_FALSE(rig.engine->drain(rig.surroundings.now() + 1'000'000));
  EXPECT_EQ(rig.engine->completed(), 0U);
  EXPECT_GE(rig.count(Counter::waited_ns), 1'000'000U);
  rig.device.complete_late();
  EXPECT_TRUE(rig.engine->drain(rig.surroundings.now() + 1));
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 100));
}

TEST(dsa_refused, work_is_done_by_the_cpu_and_the_engine_is_off) {
  EmulatedScript script;
  script.completion = EmulatedScript::Completion::in_order;
  script.error_after = 2;
  DsaRig rig(script);
  const Pages source(1, 1), destination(1);
  for (std::size_t i = 0; i < 3; i++)
    EXPECT_EQ(rig.engine->submit({source.data() + 100 * i, destination.data() + 100 * i, 100}).answer,
              Answer::accepted);
  EXPECT_STRNE(rig.engine->disabled_reason(), "");
  EXPECT_EQ(rig.engine->submit({source.data(), destination.data(), 100}).answer, Answer::unavailable);
  EXPECT_EQ(rig.engine->completed(), 0U) << "two are in flight";
  EXPECT_TRUE(rig.engine->drain(kNever));
  EXPECT_EQ(rig.engine->completed(), 3U);
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 300));
  EXPECT_EQ(rig.count(Counter::cpu_stopped), 1U);
  EXPECT_EQ(rig.count(Counter::failed), 0U);
}

}  // namespace
}  // namespace omx::copy
