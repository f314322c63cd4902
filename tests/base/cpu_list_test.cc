// SPDX-License-Identifier: BSD-3-Clause
#include "base/cpu_list.h"

#include <gtest/gtest.h>

namespace omx {
namespace {

TEST(cpu_list, as_linux_writes_it) {
  EXPECT_EQ(cpu_list_parse("0"), std::vector<int>{0});
  EXPECT_EQ(cpu_list_parse("0,2-4,9"), (std::vector<int>{0, 2, 3, 4, 9}));
  for (const char* text : {"", ",", "1,", "-1", "3-1", "1-", "a", "1 ", "0-100000", "99999"})
    EXPECT_TRUE(cpu_list_parse(text).empty()) << text;
}

}  // namespace
}  // namespace omx
