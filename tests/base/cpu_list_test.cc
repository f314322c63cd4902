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

TEST(cpu_list, text_of_what_was_read) {
  for (const char* text : {"", "0", "0,1", "0,2-4,9", "3-5", "7,9,11"})
    EXPECT_EQ(cpu_list_text(cpu_list_parse(text)), text);
}

TEST(cpu_list, masks) {
  EXPECT_EQ(cpu_mask_parse("0d"), (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(cpu_mask_parse("1,00000002"), (std::vector<int>{1, 32}));
  EXPECT_EQ(cpu_mask_parse("0000008000000000"), std::vector<int>{39});  // one of 64 processors, without comma
  for (const char* text : {"", "0", "0,00000000", "x", "1,1", ",", "1,", "0x1", " 1", "-1"})
    EXPECT_TRUE(cpu_mask_parse(text).empty()) << text;
  EXPECT_TRUE(cpu_mask_parse("1" + std::string(256, '0')).empty());
  EXPECT_EQ(cpu_mask_text({}), "0");
  EXPECT_EQ(cpu_mask_text({0, 2, 3}), "d");
  EXPECT_EQ(cpu_mask_text({1, 32}), "1,00000002");
}

}  // namespace
}  // namespace omx
