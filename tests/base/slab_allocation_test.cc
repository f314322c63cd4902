// SPDX-License-Identifier: BSD-3-Clause
// A pool that the system had no memory for stays whole.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/slab.h"
#include "tests/support/allocation_failure.h"

namespace omx {
namespace {

using runtime::allocation_fail;

// Lets the pool grow often, so that its list of chunks must grow, too. Each growth of that list fails once.
TEST(slab_allocation, no_memory_for_the_list__is_told_and_the_next_object_is_sound) {
  Slab<std::uint64_t, 2> slab;
  std::vector<std::uint64_t*> all;
  std::uint32_t refused = 0;
  for (std::uint64_t i = 0; i < 200; i++) {
    std::uint64_t* object = nullptr;
    allocation_fail(0);
    ASSERT_NO_THROW(object = slab.create(i));
    const bool failed = allocation_fail(-1);
    EXPECT_EQ(object == nullptr, failed) << i;
    refused += failed;
    if (!object) object = slab.create(i);
    ASSERT_NE(object, nullptr);
    all.push_back(object);
  }
  EXPECT_GT(refused, 0U) << "nothing failed, so nothing was tested";
  for (std::uint64_t i = 0; i < all.size(); i++) EXPECT_EQ(*all[i], i);
  for (std::uint64_t* object : all) slab.destroy(object);
}

}  // namespace
}  // namespace omx
