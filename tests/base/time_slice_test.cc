// SPDX-License-Identifier: BSD-3-Clause
#include "base/time_slice.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>

namespace omx {
namespace {

constexpr std::uint64_t kShort = 300'000, kShorter = 200'000;

// Each test changes a thread of its own.
void in_thread(void (*test)()) {
  std::thread(test).join();
}

class time_slice_of_thread : public testing::Test {
 protected:
  void SetUp() override {
    if (time_slice() <= kShort) GTEST_SKIP() << "this kernel has no time slices of single threads";
  }
};

TEST_F(time_slice_of_thread, becomes_shorter_but_not_longer) {
  in_thread([] {
    EXPECT_TRUE(time_slice_shorten(kShorter));
    EXPECT_EQ(time_slice(), kShorter);
    EXPECT_FALSE(time_slice_shorten(kShort));
    EXPECT_EQ(time_slice(), kShorter);
  });
  EXPECT_GT(time_slice(), kShort);
}

TEST_F(time_slice_of_thread, stays_where_a_priority_was_chosen) {
  in_thread([] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, 0, 5), 0);
    const std::uint64_t before = time_slice();
    EXPECT_FALSE(time_slice_shorten(kShort));
    EXPECT_EQ(time_slice(), before);
  });
}

TEST_F(time_slice_of_thread, stays_under_another_policy) {
  in_thread([] {
    const sched_param none{};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    EXPECT_EQ(time_slice(), 0U);
    EXPECT_FALSE(time_slice_shorten(kShort));
  });
}

}  // namespace
}  // namespace omx
