// SPDX-License-Identifier: BSD-3-Clause
// Lists of descriptors (docs/spec/copy-offload.md 8), on the software device.
#include "tests/support/dsa_rig.h"

namespace omx::copy {
namespace {

using Completion = EmulatedScript::Completion;
constexpr std::size_t kPiece = 1000;

struct ListCase {
  explicit ListCase(EmulatedScript script, std::uint32_t members = 8)
      : rig(limited(script), {.max_list = members, .lost_ns = 1'000'000}) {}
  static EmulatedScript limited(EmulatedScript script) {
    if (script.list_limit == 0) script.list_limit = 32;
    return script;
  }
  void submit(std::size_t pieces) {
    for (std::size_t i = 0; i < pieces; i++, used += kPiece)
      ASSERT_EQ(rig.engine->submit({source.data() + used, destination.data() + used, kPiece, true}).answer,
                Answer::accepted);
  }
  std::size_t seen(std::uint8_t opcode) const {
    std::size_t n = 0;
    for (const EmulatedWork& work : rig.device.seen()) n += work.opcode == opcode;
    return n;
  }
  bool copied() const { return same_bytes(source.data(), destination.data(), used); }

  DsaRig rig;
  Pages source{16, 1}, destination{16};
  std::size_t used = 0;
};

TEST(dsa_lists, pieces_of_one_poll_share_an_entry_of_the_queue) {
  ListCase c({.completion = Completion::never});
  c.submit(5);
  EXPECT_EQ(c.rig.device.pending(), 0U) << "kept back until the poll";
  c.rig.engine->poll(100);
  EXPECT_EQ(c.rig.device.pending(), 1U);
  EXPECT_EQ(c.seen(1), 1U);
  EXPECT_EQ(c.seen(3), 5U);
  c.rig.device.complete_late();
  EXPECT_EQ(c.rig.engine->poll(100), 5U);
  EXPECT_TRUE(c.copied());
  EXPECT_EQ(c.rig.device.violations(), 0U);
}

TEST(dsa_lists, a_lone_piece_travels_without_one__and_full_lists_leave_at_once) {
  ListCase c({});
  c.submit(1);
  c.rig.engine->poll(100);
  EXPECT_EQ(c.seen(1), 0U);
  c.submit(8);
  EXPECT_EQ(c.seen(1), 1U);
  EXPECT_EQ(c.rig.engine->poll(100), 9U);
  EXPECT_TRUE(c.copied());
}

// A list is used again when the device has answered for it and all its members have been seen.
TEST(dsa_lists, are_used_again__and_without_a_free_one_pieces_travel_alone) {
  ListCase c({.completion = Completion::never}, 2);
  c.submit(10);
  c.rig.engine->poll(100);
  EXPECT_EQ(c.seen(1), 4U);
  EXPECT_EQ(c.rig.device.pending(), 6U) << "four lists of two, and two pieces";
  c.rig.device.complete_late();
  EXPECT_EQ(c.rig.engine->poll(100), 10U);
  c.submit(4);
  EXPECT_EQ(c.seen(1), 6U);
  c.rig.device.complete_late();
  EXPECT_TRUE(c.rig.engine->drain(kNever));
  EXPECT_TRUE(c.copied());
}

TEST(dsa_lists, a_full_queue_takes_a_list_later) {
  ListCase c({.busy_first = 2});
  c.submit(3);
  c.rig.engine->poll(100);
  EXPECT_EQ(c.rig.count(Counter::queue_full), 1U);
  EXPECT_EQ(c.seen(1), 0U);
  EXPECT_TRUE(c.rig.engine->drain(kNever));
  EXPECT_EQ(c.seen(1), 1U);
  EXPECT_TRUE(c.copied());
  EXPECT_EQ(c.rig.count(Counter::cpu_bytes), 0U);
}

// The device could not read the list, so it began with none of its members.
TEST(dsa_lists, an_unreadable_list__is_copied_by_the_processor_and_counts_once) {
  ListCase c({.inject = {{0, 0x06}}});
  c.submit(8);
  EXPECT_TRUE(c.rig.engine->drain(kNever));
  EXPECT_TRUE(c.copied());
  EXPECT_EQ(c.rig.count(Counter::cpu_fault), 8U);
  EXPECT_EQ(c.rig.count(Counter::faults_read), 1U);
  EXPECT_STREQ(c.rig.engine->disabled_reason(), "") << "one fault, not eight";
  c.submit(8);
  EXPECT_TRUE(c.rig.engine->drain(kNever));
  EXPECT_EQ(c.seen(1), 2U);
  EXPECT_EQ(c.rig.count(Counter::cpu_fault), 8U);
  EXPECT_TRUE(c.copied());
}

TEST(dsa_lists, a_refused_list__ends_the_engine_and_loses_nothing) {
  ListCase c({.list_limit = 4});
  c.submit(8);
  EXPECT_TRUE(c.rig.engine->drain(kNever));
  EXPECT_TRUE(c.copied());
  EXPECT_STRNE(c.rig.engine->disabled_reason(), "");
  for (Ticket t = 1; t <= 8; t++) EXPECT_FALSE(c.rig.engine->failed(t));
  EXPECT_EQ(c.rig.device.violations(), 1U);
}

TEST(dsa_lists, a_lost_member__fails_and_the_others_do_not) {
  ListCase c({.completion = Completion::never, .drains_answer = false});
  c.submit(3);
  c.rig.engine->poll(100);
  c.rig.device.script().completion = Completion::in_order;
  c.rig.surroundings.advance(1);
  c.rig.surroundings.advance(1);
  EXPECT_EQ(c.rig.engine->poll(100), 2U);
  c.rig.device.script().completion = Completion::never;
  EXPECT_TRUE(c.rig.engine->drain(kNever));
  EXPECT_FALSE(c.rig.engine->failed(2));
  EXPECT_TRUE(c.rig.engine->failed(3));
  EXPECT_TRUE(c.copied());
  c.rig.engine.reset();
  c.rig.device.complete_late();  // writes records of the list and of its member
}

}  // namespace
}  // namespace omx::copy
