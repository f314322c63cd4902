// SPDX-License-Identifier: BSD-3-Clause
#include "base/buffer_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace omx {
namespace {

TEST(BufferPool, get__rounds_up_to_classes) {
  BufferPool pool(1 << 20);
  struct Case {
    std::size_t size, capacity;
  };
  for (const Case& c :
       {Case{0, 128}, Case{1, 128}, Case{128, 128}, Case{129, 256}, Case{4096, 4096}, Case{4097, 8192}}) {
    std::byte* buffer = pool.get(c.size);
    ASSERT_NE(buffer, nullptr);
    std::memset(buffer, 1, c.capacity);
    EXPECT_EQ(pool.in_use(), c.capacity);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer) % 64, 0U);
    pool.put(buffer, c.size);
    EXPECT_EQ(pool.in_use(), 0U);
  }
}

TEST(BufferPool, get__refuses_beyond_the_limit) {
  BufferPool pool(1024);
  std::vector<std::byte*> held;
  while (std::byte* buffer = pool.get(200)) held.push_back(buffer);
  EXPECT_EQ(held.size(), 4U);
  EXPECT_FALSE(pool.fits(1));
  EXPECT_EQ(pool.get(1), nullptr);
  pool.put(held.back(), 200);
  held.pop_back();
  EXPECT_TRUE(pool.fits(256));
  EXPECT_FALSE(pool.fits(257));
  for (std::byte* buffer : held) pool.put(buffer, 200);
}

TEST(BufferPool, get__reuses_what_was_given_back) {
  BufferPool pool(1 << 20);
  std::byte* first = pool.get(1000);
  pool.put(first, 1000);
  EXPECT_EQ(pool.get(600), first);
  pool.put(first, 600);
}

TEST(BufferPool, get__absurd_sizes) {
  BufferPool pool(~std::size_t{0});
  EXPECT_FALSE(pool.fits((std::size_t{1} << 32) + 1));
  EXPECT_EQ(pool.get((std::size_t{1} << 32) + 1), nullptr);
  EXPECT_EQ(pool.get(~std::size_t{0}), nullptr);
}

// Successive uses that each take all memory must not fill the limit once per class.
TEST(BufferPool, kept__together_with_what_is_used_stays_in_the_limit) {
  constexpr std::size_t kLimit = 1 << 20;
  BufferPool pool(kLimit);
  for (std::size_t size = 128; size <= kLimit; size *= 2) {
    std::vector<std::byte*> held;
    while (std::byte* buffer = pool.get(size)) {
      held.push_back(buffer);
      ASSERT_LE(pool.in_use() + pool.kept(), kLimit);
    }
    EXPECT_EQ(pool.in_use(), kLimit);
    for (std::byte* buffer : held) pool.put(buffer, size);
  }
  EXPECT_LE(pool.kept(), kLimit);
}

TEST(BufferPool, put__nullptr_is_harmless) {
  BufferPool pool(1024);
  pool.put(nullptr, 100);
  EXPECT_EQ(pool.in_use(), 0U);
}

}  // namespace
}  // namespace omx
