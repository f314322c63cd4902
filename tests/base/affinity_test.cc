// SPDX-License-Identifier: BSD-3-Clause
#include "base/affinity.h"

#include <gmock/gmock.h>

#include <cerrno>

namespace omx {
namespace {

class affinity : public testing::Test {
 protected:
  void SetUp() override {
    before_ = affinity_read();
    ASSERT_FALSE(before_.empty());
  }
  void TearDown() override { EXPECT_EQ(affinity_set(before_), 0); }

  std::vector<int> before_;
};

TEST_F(affinity, set_and_read) {
  const std::vector<int> one = {before_.back()};
  ASSERT_EQ(affinity_set(one), 0);
  EXPECT_EQ(affinity_read(), one);
}

TEST_F(affinity, a_processor_that_is_not_there) {
  EXPECT_EQ(affinity_set({1023}), EINVAL);
  EXPECT_EQ(affinity_read(), before_);
}

// A bound thread is allowed more processors than those it may run on, and asking does not move it.
TEST_F(affinity, possible__is_found_from_a_bound_thread) {
  const std::vector<int> possible = affinity_possible();
  EXPECT_THAT(possible, testing::IsSupersetOf(before_));
  const std::vector<int> one = {before_.front()};
  ASSERT_EQ(affinity_set(one), 0);
  EXPECT_EQ(affinity_possible(), possible);
  EXPECT_EQ(affinity_read(), one);
}

}  // namespace
}  // namespace omx
