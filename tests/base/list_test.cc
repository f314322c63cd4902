// SPDX-License-Identifier: BSD-3-Clause
#include "base/list.h"

#include <gtest/gtest.h>

#include <vector>

namespace omx {
namespace {

struct Item {
  int value = 0;
  ListHook one;
  int padding = 0;
  ListHook two;
};
using One = List<Item, &Item::one>;
using Two = List<Item, &Item::two>;

std::vector<int> values(One& list) {
  std::vector<int> all;
  for (Item* i = list.front(); i; i = list.next(*i)) all.push_back(i->value);
  return all;
}

class ListTest : public testing::Test {
 protected:
  ListTest() {
    for (int i = 0; i < 5; i++) items[i].value = i;
  }
  ~ListTest() override {
    for (Item& i : items) {
      i.one.unlink();
      i.two.unlink();
    }
  }
  Item items[5];
};

TEST_F(ListTest, push__both_ends_and_between) {
  One list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.front(), nullptr);
  EXPECT_EQ(list.back(), nullptr);
  EXPECT_EQ(list.pop_front(), nullptr);
  list.push_back(items[1]);
  list.push_front(items[0]);
  list.push_back(items[3]);
  list.insert_before(items[3], items[2]);
  EXPECT_EQ(values(list), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(list.back(), &items[3]);
  EXPECT_EQ(list.pop_front(), &items[0]);
  EXPECT_FALSE(items[0].one.linked());
  while (list.pop_front()) {
  }
}

TEST_F(ListTest, unlink__from_the_middle_and_twice) {
  One list;
  for (Item& i : items) list.push_back(i);
  items[2].one.unlink();
  items[2].one.unlink();
  One::remove(items[0]);
  One::remove(items[4]);
  EXPECT_EQ(values(list), (std::vector{1, 3}));
  while (list.pop_front()) {
  }
  EXPECT_TRUE(list.empty());
}

TEST_F(ListTest, hooks__an_item_in_two_lists) {
  One one;
  Two two;
  for (Item& i : items) {
    one.push_back(i);
    two.push_front(i);
  }
  items[1].one.unlink();
  EXPECT_EQ(values(one), (std::vector{0, 2, 3, 4}));
  EXPECT_EQ(two.front(), &items[4]);
  EXPECT_EQ(two.back(), &items[0]);
  while (one.pop_front()) {
  }
  while (two.pop_front()) {
  }
}

}  // namespace
}  // namespace omx
