// SPDX-License-Identifier: BSD-3-Clause
#include "copy/threshold.h"

#include <gtest/gtest.h>

namespace omx::copy {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

// Ends messages of 1 MiB: each saves 100 ns and waits that long.
void end_several(Threshold& t, int messages, TimeNs waited, std::uint64_t bytes = kMiB) {
  for (int i = 0; i < messages; i++) t.ended(bytes, 100, waited);
}

// Returns how many MiB the processor gets before the size is tried again.
std::uint64_t pause_of(Threshold& t) {
  std::uint64_t pieces = 0;
  while (!t.worth(kMiB, kMiB)) pieces++;
  return pieces;
}

TEST(threshold, least__nothing_smaller) {
  Threshold t(65536, true);
  EXPECT_FALSE(t.worth(65535, 4096));
  EXPECT_TRUE(t.worth(65536, 4096));
}

TEST(threshold, tuned__a_size_that_loses_again_and_again_is_left_to_the_processor) {
  Threshold t(65536, true);
  end_several(t, 7, 101);
  EXPECT_TRUE(t.worth(kMiB, 4096));
  end_several(t, 1, 101);
  EXPECT_FALSE(t.worth(kMiB, 4096));
  EXPECT_TRUE(t.worth(2 * kMiB, 4096)) << "another size";
  EXPECT_TRUE(t.worth(kMiB - 1, 4096)) << "another size";
}

TEST(threshold, tuned__wins_make_good_for_losses) {
  Threshold t(65536, true);
  for (int i = 0; i < 100; i++) {
    end_several(t, 1, 101);
    end_several(t, 1, 100);
  }
  EXPECT_TRUE(t.worth(kMiB, 4096));
}

TEST(threshold, tuned__is_tried_again_after_a_pause_that_doubles) {
  Threshold t(65536, true);
  end_several(t, 8, 101);
  EXPECT_EQ(pause_of(t), 64U);
  EXPECT_TRUE(t.worth(kMiB, kMiB));
  end_several(t, 2, 101);
  EXPECT_EQ(pause_of(t), 128U);
  end_several(t, 2, 101);
  EXPECT_EQ(pause_of(t), 256U);
  end_several(t, 6, 100);
  end_several(t, 8, 101);
  EXPECT_EQ(pause_of(t), 64U) << "it was worth it meanwhile";
  for (int i = 0; i < 20; i++) {
    end_several(t, 8, 101);
    while (!t.worth(kMiB, kMiB)) {
    }
  }
  end_several(t, 8, 101);
  EXPECT_EQ(pause_of(t), 4096U);
}

TEST(threshold, tuned__messages_that_began_before_the_pause_do_not_count) {
  Threshold t(65536, true);
  end_several(t, 30, 101);
  EXPECT_EQ(pause_of(t), 64U);
}

TEST(threshold, given__is_not_tuned) {
  Threshold t(65536, false);
  end_several(t, 100, 101);
  EXPECT_TRUE(t.worth(kMiB, 4096));
  EXPECT_FALSE(t.worth(65535, 4096));
}

}  // namespace
}  // namespace omx::copy
