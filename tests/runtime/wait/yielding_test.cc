// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/yielding.h"

#include <gtest/gtest.h>

namespace omx::runtime {
namespace {

constexpr TimeNs kMost = 100'000;

TEST(yielding, paid__as_long_as_it_takes_and_some_more) {
  Yielding yielding(kMost);
  yielding.paid(5'000);
  EXPECT_EQ(yielding.next(), 20'000U);
  yielding.paid(90'000);
  EXPECT_EQ(yielding.next(), kMost);
  yielding.paid(0);
  EXPECT_GT(yielding.next(), 0U);
}

TEST(yielding, failed__given_up_and_tried_ever_more_rarely) {
  Yielding yielding(kMost);
  unsigned failures = 0;
  const auto next = [&] {  // returns how many waits it took until one may yield
    for (unsigned waits = 1;; waits++) {
      if (yielding.next() > 0) return waits;
      if (waits > 10'000) return waits;
    }
  };
  while (next() == 1 && failures < 100) {
    yielding.failed();
    failures++;
  }
  EXPECT_LT(failures, 10U);
  unsigned last = 0;
  for (int i = 0; i < 10; i++) {
    yielding.failed();
    const unsigned waits = next();
    EXPECT_GE(waits, last);
    EXPECT_LE(waits, 4096U);
    last = waits;
  }
  EXPECT_EQ(last, 4096U);
  yielding.paid(10'000);
  EXPECT_EQ(next(), 1U);
}

TEST(yielding, never__where_nothing_is_allowed) {
  Yielding yielding(0);
  for (int i = 0; i < 1000; i++) {
    EXPECT_EQ(yielding.next(), 0U);
    yielding.paid(1);
    yielding.failed();
  }
}

}  // namespace
}  // namespace omx::runtime
