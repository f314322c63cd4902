// SPDX-License-Identifier: BSD-3-Clause
// Several engines as one, on software devices whose time stands still unless a test moves it.
#include "copy/channels.h"

#include "tests/support/dsa_rig.h"

namespace omx::copy {
namespace {

using Completion = EmulatedScript::Completion;
constexpr TimeNs kGivenUp = 1'000'000;

class channels : public testing::Test {
 protected:
  void start(const EmulatedScript& script, std::size_t count = 3, std::uint32_t most = 4) {
    std::vector<std::unique_ptr<CopyEngine>> engines;
    for (std::size_t i = 0; i < count; i++) {
      rigs_.push_back(
          std::make_unique<DsaRig>(script, DsaOptions{.most_outstanding = most, .lost_ns = kGivenUp}));
      engines.push_back(std::move(rigs_.back()->engine));
    }
    engine_ = Channels::join(std::move(engines));
  }
  void TearDown() override { engine_.reset(); }

  Submission submit(std::uint32_t message) {
    return engine_->submit({source_.data(), destination_.data() + 1000 * used_++, 1000, true, message});
  }
  std::size_t moves(std::size_t channel) const { return rigs_[channel]->moves(); }

  std::vector<std::unique_ptr<DsaRig>> rigs_;
  std::unique_ptr<CopyEngine> engine_;
  Pages source_{1, 1}, destination_{16};
  std::size_t used_ = 0;
};

TEST_F(channels, each_message_has_its_own) {
  start({});
  EXPECT_EQ(engine_->capabilities().most_outstanding, 12U);
  for (const std::uint32_t message : {0, 0, 1, 4, 5, 5, 5})
    EXPECT_EQ(submit(message).answer, Answer::accepted);
  EXPECT_EQ(moves(0), 2U);
  EXPECT_EQ(moves(1), 2U);
  EXPECT_EQ(moves(2), 3U);
  EXPECT_TRUE(engine_->drain(kNever));
  EXPECT_EQ(engine_->counters().get(Counter::pieces), 7U);
}

TEST_F(channels, a_full_channel_leaves_pieces_to_the_next_one) {
  start({.completion = Completion::never}, 2);
  for (int i = 0; i < 8; i++) EXPECT_EQ(submit(1).answer, Answer::accepted);
  EXPECT_EQ(moves(0), 4U);
  EXPECT_EQ(moves(1), 4U);
  EXPECT_EQ(submit(1).answer, Answer::busy);
  rigs_[0]->device.complete_late();
  EXPECT_EQ(engine_->poll(100), 0U) << "the oldest pieces are in the other channel";
  rigs_[1]->device.complete_late();
  EXPECT_EQ(engine_->poll(100), 8U);
}

// The device says that it is broken, and the processor finishes the piece. Nothing failed.
TEST_F(channels, one_that_is_switched_off__leaves_the_others_on) {
  start({.inject = {{0, 0x20}}}, 2);
  EXPECT_EQ(submit(0).answer, Answer::accepted);
  EXPECT_TRUE(engine_->drain(kNever));
  EXPECT_FALSE(engine_->failed(1));
  EXPECT_STREQ(engine_->disabled_reason(), "");
  EXPECT_EQ(submit(0).answer, Answer::accepted) << "by the other channel";
  EXPECT_EQ(moves(0), 1U);
  EXPECT_EQ(moves(1), 1U);
  EXPECT_TRUE(engine_->drain(kNever));
  EXPECT_STRNE(engine_->disabled_reason(), "") << "which is broken, too";
  EXPECT_EQ(submit(0).answer, Answer::unavailable);
}

// The memory that a lost piece names must not be used again, so its owner has to learn of it.
TEST_F(channels, a_piece_that_failed__switches_all_off) {
  start({.completion = Completion::after, .drains_answer = false}, 2);
  rigs_[1]->device.script().completion = Completion::never;
  EXPECT_EQ(submit(0).answer, Answer::accepted);
  EXPECT_EQ(submit(1).answer, Answer::accepted);
  EXPECT_EQ(submit(0).answer, Answer::accepted);
  EXPECT_TRUE(engine_->drain(kNever));
  EXPECT_FALSE(engine_->failed(1));
  EXPECT_TRUE(engine_->failed(2));
  EXPECT_FALSE(engine_->failed(3));
  EXPECT_STRNE(engine_->disabled_reason(), "");
  EXPECT_EQ(submit(0).answer, Answer::unavailable);
  engine_.reset();
  rigs_[1]->device.complete_late();
}

TEST_F(channels, a_lone_engine_is_left_as_it_is) {
  start({}, 1);
  EXPECT_NE(dynamic_cast<DsaEngine*>(engine_.get()), nullptr);
}

}  // namespace
}  // namespace omx::copy
