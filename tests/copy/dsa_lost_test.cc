// SPDX-License-Identifier: BSD-3-Clause
// Test 6 of docs/spec/copy-offload.md 11: a completion that does not come.
#include "tests/support/dsa_rig.h"

namespace omx::copy {
namespace {

using Completion = EmulatedScript::Completion;
constexpr TimeNs kLost = 1'000'000;

EmulatedScript silent() {
  EmulatedScript script;
  script.completion = Completion::never;
  return script;
}

TEST(dsa_lost, completion_fails_the_piece_and_ends_the_engine) {
  DsaRig rig(silent(), {.lost_ns = kLost});
  const Pages source(1, 1), destination(1);
  const Submission s = rig.engine->submit({source.data(), destination.data(), 1000});
  rig.surroundings.advance(kLost - 1);
  EXPECT_EQ(rig.engine->poll(10), 0U);
  EXPECT_STREQ(rig.engine->disabled_reason(), "");
  rig.surroundings.advance(1);
  EXPECT_EQ(rig.engine->poll(10), 0U) << "a drain has been sent and gets as long again";
  EXPECT_STRNE(rig.engine->disabled_reason(), "");
  EXPECT_EQ(rig.device.seen().back().opcode, 2);
  EXPECT_EQ(rig.engine->submit({source.data(), destination.data(), 1}).answer, Answer::unavailable);
  rig.surroundings.advance(kLost);
  EXPECT_EQ(rig.engine->poll(10), 1U);
  EXPECT_EQ(rig.engine->completed(), s.ticket);
  EXPECT_TRUE(rig.engine->failed(s.ticket));
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 1000)) << "copied nevertheless";
  EXPECT_EQ(rig.count(Counter::failed), 1U);
  EXPECT_EQ(rig.count(Counter::cpu_lost), 1U);
  EXPECT_EQ(rig.count(Counter::disabled), 1U);
  EXPECT_EQ(rig.engine->submit({source.data(), destination.data(), 1}).answer, Answer::unavailable);
}

TEST(dsa_lost, completion_that_comes_after_the_end_hits_memory_that_is_kept) {
  const Pages source(1, 1), destination(1);
  EmulatedDevice device(silent());
  EmulatedSurroundings surroundings(device);
  auto engine = std::move(
      *DsaEngine::create(std::make_unique<EmulatedPortal>(device), {.lost_ns = kLost}, surroundings));
  for (std::size_t i = 0; i < 3; i++)
    engine->submit({source.data() + i * 100, destination.data() + i * 100, 100});
  engine.reset();
  // New users of freed memory: mappings, and an engine.
  std::vector<std::unique_ptr<Pages>> others;
  for (int i = 0; i < 16; i++) others.push_back(std::make_unique<Pages>(1));
  DsaRig second({});
  const Pages other_destination(1);
  second.engine->submit({source.data(), other_destination.data(), 1000});
  device.complete_late();  // records and data are written now
  EXPECT_TRUE(second.engine->drain(kNever));
  EXPECT_TRUE(same_bytes(source.data(), other_destination.data(), 1000));
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 300));
  const Pages zero(1);
  for (const auto& other : others) EXPECT_TRUE(same_bytes(other->data(), zero.data(), zero.size()));
}

TEST(dsa_lost, completion_while_the_drain_is_awaited_counts) {
  DsaRig rig(silent(), {.lost_ns = kLost});
  const Pages source(1, 1), destination(1);
  rig.engine->submit({source.data(), destination.data(), 1000});
  rig.surroundings.advance(kLost);
  rig.engine->poll(10);
  rig.device.complete_late();
  EXPECT_EQ(rig.engine->poll(10), 1U);
  EXPECT_FALSE(rig.engine->failed(1));
  EXPECT_EQ(rig.count(Counter::cpu_bytes), 0U);
  EXPECT_STRNE(rig.engine->disabled_reason(), "");
}

// If the device says that nothing is outstanding, the memory is ours and the copy is good.
TEST(dsa_lost, completion_is_no_failure_when_a_drain_confirms) {
  EmulatedScript script;
  script.completion = Completion::at_once;
  script.lost_chance = 1;
  DsaRig rig(script, {.lost_ns = kLost});
  const Pages source(1, 1), destination(1);
  rig.engine->submit({source.data(), destination.data(), 1000});
  rig.device.script().lost_chance = 0;  // the drain is answered
  rig.surroundings.advance(kLost);
  EXPECT_TRUE(rig.engine->drain(kNever));
  EXPECT_FALSE(rig.engine->failed(1));
  EXPECT_EQ(rig.count(Counter::cpu_lost), 1U);
  EXPECT_EQ(rig.count(Counter::failed), 0U);
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 1000));
  EXPECT_STRNE(rig.engine->disabled_reason(), "") << "a device that loses completions is not trusted again";
}

TEST(dsa_lost, one_of_many_fails_alone) {
  DsaRig rig({}, {.lost_ns = kLost});
  const Pages source(2, 1), destination(2);
  const auto submit = [&](std::size_t i) {
    return rig.engine->submit({source.data() + i * 1000, destination.data() + i * 1000, 1000}).ticket;
  };
  submit(0);
  rig.device.script().lost_chance = 1;
  const Ticket lost = submit(1);
  rig.device.script().lost_chance = 0;
  rig.device.script().drains_answer = false;
  submit(2);
  EXPECT_EQ(rig.engine->poll(10), 1U);
  EXPECT_EQ(rig.engine->completed(), 1U) << "in order";
  EXPECT_TRUE(rig.engine->drain(kNever));
  for (Ticket t = 1; t <= 3; t++) EXPECT_EQ(rig.engine->failed(t), t == lost) << t;
  EXPECT_TRUE(same_bytes(source.data(), destination.data(), 3000));
}

TEST(dsa_lost, drain_that_is_refused_ends_it_at_once) {
  DsaRig rig(silent(), {.lost_ns = kLost});
  const Pages source(1, 1), destination(1);
  rig.engine->submit({source.data(), destination.data(), 1000});
  rig.device.script().error_after = 1;
  rig.surroundings.advance(kLost);
  EXPECT_EQ(rig.engine->poll(10), 1U);
  EXPECT_TRUE(rig.engine->failed(1));
}

// No record and no destination of an outstanding descriptor is given to the device again.
TEST(dsa_lost, records_are_not_reused) {
  DsaRig rig(silent(), {.most_outstanding = 4, .lost_ns = kLost});
  const Pages source(1, 1), destination(1);
  for (std::size_t i = 0; i < 4; i++) rig.engine->submit({source.data(), destination.data() + i * 64, 64});
  EXPECT_EQ(rig.engine->submit({source.data(), destination.data(), 64}).answer, Answer::busy);
  EXPECT_TRUE(rig.engine->drain(kNever));
  EXPECT_EQ(rig.engine->submit({source.data(), destination.data(), 64}).answer, Answer::unavailable);
  std::vector<std::uint64_t> records;
  for (const EmulatedWork& work : rig.device.seen()) {
    EXPECT_EQ(std::count(records.begin(), records.end(), work.record), 0) << "a drain has its own, too";
    records.push_back(work.record);
  }
  EXPECT_EQ(records.size(), 5U);
}

}  // namespace
}  // namespace omx::copy
