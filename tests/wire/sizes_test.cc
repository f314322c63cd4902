// SPDX-License-Identifier: BSD-3-Clause
#include "wire/sizes.h"

#include <gtest/gtest.h>

namespace omx::wire {
namespace {

TEST(sizes, reference_sizes__mxoe_does_not_depend_on_the_mtu) {
  for (std::uint32_t mtu : {1500u, 4144u, 9000u, 65535u}) {
    const Sizes sizes = legacy_sizes(Mode::mxoe, mtu);
    EXPECT_EQ(sizes.pull_reply_max, 4096u);
    EXPECT_EQ(sizes.pull_frames, 8u);
    EXPECT_EQ(sizes.medium_frag, 4096u);
    EXPECT_EQ(sizes.medium_frags, 8u);
    EXPECT_EQ(sizes.medium_max(), 32768u);
  }
  EXPECT_EQ(kMxoeFrame, 4144u);
}

TEST(sizes, reference_sizes__omx_9000) {
  const Sizes sizes = legacy_sizes(Mode::omx, 9000);
  EXPECT_EQ(sizes.pull_reply_max, 8968u);
  EXPECT_EQ(sizes.pull_frames, 32u);
  EXPECT_EQ(sizes.pull_reply_max * sizes.pull_frames, 286976);
  EXPECT_EQ(sizes.medium_frag, 8192u);
  EXPECT_EQ(sizes.medium_frags, 32u);
  EXPECT_EQ(sizes.medium_max(), 262144u);
}

TEST(sizes, reference_sizes__omx_1500) {
  const Sizes sizes = legacy_sizes(Mode::omx, 1500);
  EXPECT_EQ(sizes.pull_reply_max, 1468u);
  EXPECT_EQ(sizes.pull_reply_max * sizes.pull_frames, 46976);
  EXPECT_EQ(sizes.medium_frag, 1452u);
  EXPECT_EQ(sizes.medium_max(), 46464u);
}

TEST(sizes, reference_sizes__omx_fragment_steps) {
  EXPECT_EQ(legacy_sizes(Mode::omx, 4143).medium_frag, 4095u);
  EXPECT_EQ(legacy_sizes(Mode::omx, 4144).medium_frag, 4096u);
  EXPECT_EQ(legacy_sizes(Mode::omx, 4145).medium_frag, 4096u);
  EXPECT_EQ(legacy_sizes(Mode::omx, 8239).medium_frag, 4096u);
  EXPECT_EQ(legacy_sizes(Mode::omx, 8240).medium_frag, 8192u);
}

TEST(sizes, reference_sizes__lengths_fit_their_fields) {
  const Sizes sizes = legacy_sizes(Mode::omx, 65536);
  EXPECT_EQ(sizes.pull_reply_max, 65535u - 32);
  EXPECT_EQ(sizes.medium_frag, 8192u);
}

TEST(sizes, extended_sizes__mxoe_stays_compatible) {
  EXPECT_EQ(extended_sizes(Mode::mxoe, 9014, 20).medium_frag, 4096u);
  EXPECT_EQ(extended_sizes(Mode::mxoe, 9014, 20).pull_reply_max, 4096u);
}

TEST(sizes, extended_sizes__full_frames_fit_with_overhead) {
  for (std::uint32_t frame : {188u, 1514u, 9014u, 65549u, 70000u}) {
    for (std::uint32_t overhead : {0u, 4u, 16u, 20u}) {
      const Sizes sizes = extended_sizes(Mode::omx, frame, overhead);
      EXPECT_LE(32 + sizes.pull_reply_max + overhead, frame);
      EXPECT_LE(48 + sizes.medium_frag + overhead, frame);
      EXPECT_EQ(sizes.pull_reply_max % 8, 0);
      EXPECT_EQ(sizes.medium_frag % 8, 0);
      EXPECT_GT(32 + sizes.pull_reply_max + overhead + 32, std::min(frame, 65549u));
      EXPECT_GT(sizes.medium_frag, 0u);
      if (frame <= 65549) {
        EXPECT_GT(48 + sizes.medium_frag + overhead + 8, frame);
      }
    }
  }
}

}  // namespace
}  // namespace omx::wire
