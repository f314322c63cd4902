// SPDX-License-Identifier: BSD-3-Clause
#include "base/mac.h"

#include <gtest/gtest.h>

namespace omx {
namespace {

TEST(Mac, mac_format__first_byte_is_most_significant) {
  EXPECT_EQ(mac_format(0x0060dd47c475), "00:60:dd:47:c4:75");
  EXPECT_EQ(mac_format(0), "00:00:00:00:00:00");
  EXPECT_EQ(mac_format(kBroadcastNic), "ff:ff:ff:ff:ff:ff");
}

TEST(Mac, mac_parse__accepts_what_people_write) {
  EXPECT_EQ(mac_parse("00:60:dd:47:c4:75"), 0x0060dd47c475U);
  EXPECT_EQ(mac_parse("00-60-DD-47-C4-75"), 0x0060dd47c475U);
}

TEST(Mac, mac_parse__refuses_the_rest) {
  for (const char* text : {"", "00:60:dd:47:c4", "00:60:dd:47:c4:7", "00:60:dd:47:c4:755",
                           "00:60:dd:47:c4:7g", "0:60:dd:47:c4:755", "00 60 dd 47 c4 75", "0060dd47c475",
                           "00:60:dd:47:c4:75 ", "\xff\xff:60:dd:47:c4:75"})
    EXPECT_FALSE(mac_parse(text)) << text;
}

TEST(Mac, mac_store__and_load) {
  std::byte bytes[8] = {};
  mac_store(bytes + 1, 0x0060dd47c475);
  EXPECT_EQ(bytes[0], std::byte{0});
  EXPECT_EQ(bytes[2], std::byte{0x60});
  EXPECT_EQ(bytes[7], std::byte{0});
  EXPECT_EQ(mac_load(bytes + 1), 0x0060dd47c475U);
}

}  // namespace
}  // namespace omx
