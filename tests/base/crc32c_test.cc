// SPDX-License-Identifier: BSD-3-Clause
#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace omx {
namespace {

std::uint32_t bitwise(const std::vector<std::uint8_t>& data) {
  std::uint32_t crc = ~0U;
  for (const std::uint8_t byte : data) {
    crc ^= byte;
    for (int i = 0; i < 8; i++) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78U : crc >> 1;
  }
  return ~crc;
}

// The vectors of RFC 3720, B.4, and the usual check value.
TEST(Crc32c, crc32c__known_vectors) {
  const std::string_view digits = "123456789";
  EXPECT_EQ(crc32c(0, digits.data(), digits.size()), 0xe3069283U);
  EXPECT_EQ(crc32c(0, nullptr, 0), 0U);
  std::vector<std::uint8_t> data(32, 0);
  EXPECT_EQ(crc32c(0, data.data(), 32), 0x8a9136aaU);
  data.assign(32, 0xff);
  EXPECT_EQ(crc32c(0, data.data(), 32), 0x62a8ab43U);
  std::iota(data.begin(), data.end(), std::uint8_t{0});
  EXPECT_EQ(crc32c(0, data.data(), 32), 0x46dd794eU);
  std::reverse(data.begin(), data.end());
  EXPECT_EQ(crc32c(0, data.data(), 32), 0x113fdb5cU);
}

TEST(Crc32c, crc32c__every_length_alignment_and_split) {
  Random random(1);
  std::vector<std::uint8_t> data(300);
  for (auto& byte : data) byte = static_cast<std::uint8_t>(random.next());
  for (std::size_t start = 0; start < 9; start++) {
    for (std::size_t length = 0; length < 60; length++) {
      const std::vector<std::uint8_t> part(data.begin() + static_cast<long>(start),
                                           data.begin() + static_cast<long>(start + length));
      const std::uint32_t expected = bitwise(part);
      EXPECT_EQ(crc32c(0, data.data() + start, length), expected);
      const std::size_t split = random.below(length + 1);
      const std::uint32_t first = crc32c(0, data.data() + start, split);
      EXPECT_EQ(crc32c(first, data.data() + start + split, length - split), expected);
    }
  }
}

}  // namespace
}  // namespace omx
