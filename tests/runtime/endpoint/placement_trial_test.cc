// SPDX-License-Identifier: BSD-3-Clause
// Which way large messages take into their place: the faster of two, found by trying both.
#include "runtime/endpoint/placement_trial.h"

#include <gtest/gtest.h>

namespace omx::runtime {
namespace {

constexpr std::uint64_t kMiB = 1 << 20, kRing = 32 * kMiB;

// A stream at these rates, in bytes per microsecond, one MiB a turn, and its trial.
struct Stream {
  double by_kernel = 0, from_ring = 0;
  PlacementTrial trial = begun();
  std::uint64_t bytes = 0;
  double busy = 0;
  unsigned changes = 0;
  std::uint64_t kernel_bytes = 0;

  static PlacementTrial begun() {
    PlacementTrial trial;
    trial.begin(kRing);
    return trial;
  }
  void run(std::uint64_t amount) {
    for (const std::uint64_t end = bytes + amount; bytes < end;) {
      bytes += kMiB;
      if (trial.by_kernel()) kernel_bytes += kMiB;
      busy += static_cast<double>(kMiB) / (trial.by_kernel() ? by_kernel : from_ring) * 1000;
      const bool before = trial.by_kernel();
      trial.heard(bytes, static_cast<TimeNs>(busy));
      if (trial.by_kernel() != before) changes++;
    }
  }
};

TEST(placement_trial, not_begun__always_the_kernel) {
  Stream stream{5000, 9000, PlacementTrial()};
  stream.run(1024 * kMiB);
  EXPECT_TRUE(stream.trial.by_kernel());
  EXPECT_EQ(stream.changes, 0U);
}

TEST(placement_trial, few_large_messages__the_ring_and_no_trial) {
  Stream stream{5000, 5000};
  stream.run(kRing);
  EXPECT_FALSE(stream.trial.by_kernel());
  EXPECT_FALSE(stream.trial.settled());
  EXPECT_EQ(stream.changes, 0U);
}

TEST(placement_trial, the_kernel_faster__kept) {
  Stream stream{6000, 5000};
  stream.run(300 * kMiB);
  EXPECT_TRUE(stream.trial.settled());
  EXPECT_TRUE(stream.trial.by_kernel());
  EXPECT_NEAR(static_cast<double>(stream.trial.kernel_rate()), 6e6, 6e4);
  EXPECT_NEAR(static_cast<double>(stream.trial.ring_rate()), 5e6, 5e4);
}

TEST(placement_trial, the_ring_faster__kept) {
  Stream stream{5000, 6000};
  stream.run(300 * kMiB);
  EXPECT_TRUE(stream.trial.settled());
  EXPECT_FALSE(stream.trial.by_kernel());
  EXPECT_EQ(stream.changes, 10U);
}

TEST(placement_trial, both_alike__the_kernel_which_copies_once) {
  Stream stream{5000, 5050};
  stream.run(300 * kMiB);
  EXPECT_TRUE(stream.trial.by_kernel());
}

TEST(placement_trial, one_sample_disturbed__does_not_count) {
  Stream stream{5000, 6000};
  stream.run(kRing);
  stream.from_ring = 500;  // another program had the processor
  stream.run(17 * kMiB);
  stream.from_ring = 6000;
  stream.run(300 * kMiB);
  EXPECT_TRUE(stream.trial.settled());
  EXPECT_FALSE(stream.trial.by_kernel());
}

// Data that had piled up unread come faster than any other.
TEST(placement_trial, one_sample_too_fast__does_not_count) {
  Stream stream{5000, 6000};
  stream.run(kRing + 17 * kMiB);
  stream.by_kernel = 50000;
  stream.run(20 * kMiB);
  stream.by_kernel = 5000;
  stream.run(300 * kMiB);
  EXPECT_TRUE(stream.trial.settled());
  EXPECT_FALSE(stream.trial.by_kernel());
}

TEST(placement_trial, refused__the_other_way_and_asked_again_ever_less_often) {
  Stream stream{5000, 6000};
  unsigned refusals = 0;
  while (stream.bytes < 64 * 1024 * kMiB) {
    stream.run(kMiB);
    if (!stream.trial.by_kernel()) continue;
    stream.trial.refused(stream.bytes, false);
    EXPECT_FALSE(stream.trial.compared());
    refusals++;
  }
  EXPECT_GE(refusals, 5U);
  EXPECT_LE(refusals, 9U);
}

TEST(placement_trial, the_machine_changed__tried_again_and_followed) {
  Stream stream{5000, 6000};
  stream.run(300 * kMiB);
  ASSERT_FALSE(stream.trial.by_kernel());
  stream.by_kernel = 8000;
  stream.run(1400 * kMiB);
  EXPECT_TRUE(stream.trial.settled());
  EXPECT_TRUE(stream.trial.by_kernel());
}

// Otherwise an endpoint whose other way is slower would pay for constant trials.
TEST(placement_trial, the_same_again_and_again__seldom_tried) {
  Stream stream{2500, 5000};
  stream.run(256 * 1024 * kMiB);
  EXPECT_FALSE(stream.trial.by_kernel());
  EXPECT_LT(stream.kernel_bytes, 2 * 1024 * kMiB);
}

}  // namespace
}  // namespace omx::runtime
