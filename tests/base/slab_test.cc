// SPDX-License-Identifier: BSD-3-Clause
#include "base/slab.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace omx {
namespace {

int g_alive = 0;
struct Object {
  explicit Object(int v) : value(v) { g_alive++; }
  ~Object() { g_alive--; }
  int value;
  alignas(64) char line[64];
};

TEST(Slab, create__distinct_aligned_objects) {
  Slab<Object, 4> slab;
  std::set<Object*> all;
  for (int i = 0; i < 50; i++) {
    Object* o = slab.create(i);
    ASSERT_NE(o, nullptr);
    EXPECT_EQ(o->value, i);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(o) % 64, 0U);
    EXPECT_TRUE(all.insert(o).second);
  }
  EXPECT_EQ(slab.live(), 50U);
  EXPECT_EQ(g_alive, 50);
  for (Object* o : all) slab.destroy(o);
  EXPECT_EQ(slab.live(), 0U);
  EXPECT_EQ(g_alive, 0);
}

TEST(Slab, destroy__memory_is_used_again) {
  Slab<Object, 4> slab;
  std::vector<Object*> first;
  for (int i = 0; i < 8; i++) first.push_back(slab.create(i));
  const std::size_t bytes = slab.bytes();
  for (int round = 0; round < 100; round++) {
    for (Object*& o : first) {
      slab.destroy(o);
      o = slab.create(round);
    }
  }
  EXPECT_EQ(slab.bytes(), bytes);
  for (Object* o : first) slab.destroy(o);
}

}  // namespace
}  // namespace omx
