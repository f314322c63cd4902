// SPDX-License-Identifier: BSD-3-Clause
// What an endpoint gives its copy engine. The test uses the software device.
#include "runtime/endpoint/copies.h"

#include "tests/support/dsa_rig.h"
#include "tests/support/quiet_link.h"

namespace omx::runtime {
namespace {

using copy::EmulatedScript;
using copy::Pages;
using Frames = Copies::Frames;
using Answer = protocol::Offload::Answer;

class FakeLink final : public QuietLink, public link::Ring {
 public:
  FakeLink() : QuietLink(1, 9000, {.ring = this}) {}
  bool hold_enable() override { return true; }
  std::uint32_t held() const override { return now_held; }
  std::uint32_t slots() const override { return 64; }
  void give_back(std::uint64_t ticket) override { given_back = ticket; }
  void abandon() override { abandoned++; }

  std::uint32_t now_held = 0;
  std::uint64_t given_back = 0;
  int abandoned = 0;
};

class copies : public testing::Test {
 protected:
  void start(const EmulatedScript& script = {}, const copy::Policy& policy = {}) {
    copies_.reset();  // before its device
    rig_ = std::make_unique<copy::DsaRig>(script);
    copy::Calibration costs;  // of each piece: 1000 ns for the processor, 100 for handing over
    for (auto& row : costs.rows) row = {.bytes = 8192, .memcpy_out_ns = 1000, .submit_ns = 100};
    copies_.emplace(std::move(rig_->engine), policy, costs, link_, false);
    copies_->frames(Frames::of_ring);
  }
  void TearDown() override { copies_.reset(); }
  Answer copy(std::size_t bytes = 8192, std::uint64_t message = 1 << 20, std::uint64_t offset = 0) {
    return copies_->copy({to_.data(), from_.data(), bytes, offset, message}, ticket_);
  }

  FakeLink link_;
  std::unique_ptr<copy::DsaRig> rig_;
  std::optional<Copies> copies_;
  Pages from_{4, 1}, to_{4};
  std::uint64_t ticket_ = 0;
};

TEST_F(copies, ring__large_pieces_of_large_messages_stay) {
  start();
  EXPECT_EQ(copy(), Answer::later);
  EXPECT_EQ(copies_->taken(), ticket_);
  EXPECT_EQ(copies_->taken(), 0U);
  EXPECT_EQ(copy(8192, 65535), Answer::refused);
  EXPECT_EQ(copy(1000), Answer::refused);
  EXPECT_EQ(copies_->taken(), 0U);
  link_.now_held = 1;
  copies_->drain();
  EXPECT_EQ(link_.given_back, ticket_);
  EXPECT_TRUE(copy::same_bytes(from_.data(), to_.data(), 8192));
}

TEST_F(copies, other_frames__nothing_that_would_have_to_stay) {
  start();
  copies_->frames(Frames::passing);
  EXPECT_EQ(copy(), Answer::refused);
  copies_->frames(Frames::of_neighbours);
  EXPECT_EQ(copy(8192, 1 << 19), Answer::refused) << "not worth waiting for";
  EXPECT_EQ(copy(), Answer::copied);
  EXPECT_TRUE(copy::same_bytes(from_.data(), to_.data(), 8192));
  EXPECT_EQ(copies_->taken(), 0U);
}

TEST_F(copies, settings__thresholds_and_what_the_processor_warms) {
  start({}, {.min_message = 1000, .min_piece = 500, .warm = 100});
  EXPECT_EQ(copy(500, 1000, 100), Answer::later);
  EXPECT_EQ(copy(500, 1000, 99), Answer::refused);
  EXPECT_EQ(copy(499, 1000, 100), Answer::refused);
  EXPECT_EQ(copy(500, 999, 100), Answer::refused);
  copies_->drain();
}

// 1 MiB saves 128 times 900 ns.
TEST_F(copies, settings__a_size_that_loses_is_left_to_the_processor) {
  constexpr std::uint64_t kMiB = 1 << 20;
  for (const bool tuned : {false, true}) {
    start({}, {.tuned = tuned});
    for (int i = 0; i < 8; i++) copies_->ended(kMiB, 128 * 900);
    EXPECT_EQ(copy(), Answer::later);
    for (int i = 0; i < 8; i++) copies_->ended(kMiB, 128 * 900 + 1);
    EXPECT_EQ(copy(), tuned ? Answer::refused : Answer::later);
    EXPECT_EQ(copy(8192, kMiB / 2), Answer::later);
    copies_->drain();
  }
}

TEST_F(copies, ring__never_runs_dry) {
  start();
  link_.now_held = 16;  // of 64
  EXPECT_EQ(copy(), Answer::refused);
  link_.now_held = 15;
  EXPECT_EQ(copy(), Answer::later);
  copies_->drain();
}

// The link learns that a frame stays only after its copy was submitted, and the copy may be done by then. If
// that frame were not given back, it would keep all frames behind it.
TEST_F(copies, ring__what_was_copied_before_it_was_held) {
  start();
  ASSERT_EQ(copy(), Answer::later);
  copies_->drain();
  EXPECT_FALSE(copies_->busy());
  link_.now_held = 1;
  EXPECT_TRUE(copies_->busy());
  link_.given_back = 0;
  copies_->tend();
  EXPECT_EQ(link_.given_back, ticket_);
}

TEST_F(copies, lost_completion__fails_and_the_ring_is_used_no_more) {
  EmulatedScript script;
  script.completion = EmulatedScript::Completion::never;
  start(script);
  ASSERT_EQ(copy(), Answer::later);
  const std::uint64_t ticket = ticket_;
  copies_->drain();
  EXPECT_TRUE(copies_->failed(ticket, ticket));
  EXPECT_EQ(link_.given_back, 0U) << "the device may read it for ever";
  copies_->tend();
  EXPECT_EQ(link_.abandoned, 1);
  copies_->tend();
  EXPECT_EQ(link_.abandoned, 1);
  EXPECT_EQ(copy(), Answer::refused);
}

// The endpoint waited for the copy of a neighbour's frame. The copy fails, too, and does not concern the
// ring.
TEST_F(copies, lost_completion__of_a_frame_in_shared_memory) {
  EmulatedScript script;
  script.completion = EmulatedScript::Completion::never;
  start(script);
  copies_->frames(Frames::of_neighbours);
  ASSERT_EQ(copy(), Answer::later);
  EXPECT_LE(ticket_, copies_->completed());
  EXPECT_TRUE(copies_->failed(ticket_, ticket_));
  EXPECT_EQ(copies_->taken(), 0U);
  copies_->tend();
  EXPECT_EQ(link_.abandoned, 0);
}

TEST(copy_policy, follows_the_caches_unless_told) {
  copy::Calibration calibration;
  calibration.least_piece = 4096;
  Settings settings;
  const auto policy = [&](bool host_shares, bool engine_fills) {
    return copy_policy(settings, calibration, {host_shares, engine_fills});
  };
  EXPECT_EQ(policy(true, true).min_waited, 1U << 20);
  EXPECT_EQ(policy(false, true).min_waited, 64U << 10) << "no cache makes the processor's copies fast";
  EXPECT_EQ(policy(true, true).warm, 0U);
  EXPECT_EQ(policy(true, false).warm, 16U << 10);
  EXPECT_TRUE(policy(true, true).tuned);
  EXPECT_EQ(policy(true, true).min_message, 64U << 10);
  settings.copy = {.min_message = 1, .min_waited = 2, .warm = 3};
  for (const bool either : {false, true}) {
    EXPECT_EQ(policy(either, either).min_message, 1U);
    EXPECT_EQ(policy(either, either).min_waited, 2U);
    EXPECT_EQ(policy(either, either).warm, 3U);
    EXPECT_FALSE(policy(either, either).tuned);
  }
}

TEST(ring_better, as_measured_or_as_told) {
  copy::Calibration calibration;
  for (std::size_t i = 0; i < calibration.rows.size(); i++) calibration.rows[i].bytes = 1000U << i;
  for (auto& row : calibration.rows) {
    row.submit_ns = 100;
    row.place_ns = 500;
  }
  calibration.least_piece = 2000;
  Settings settings;
  EXPECT_TRUE(ring_better(settings, calibration, 9000));
  EXPECT_FALSE(ring_better(settings, calibration, 1500)) << "too small to be handed over";
  for (auto& row : calibration.rows) row.submit_ns = 600;
  EXPECT_FALSE(ring_better(settings, calibration, 9000));
  settings.placement = Placement::ring;
  EXPECT_TRUE(ring_better(settings, calibration, 9000));
  for (auto& row : calibration.rows) row.submit_ns = 100;
  settings.placement = Placement::kernel;
  EXPECT_FALSE(ring_better(settings, calibration, 9000));
}

}  // namespace
}  // namespace omx::runtime
