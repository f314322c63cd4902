// SPDX-License-Identifier: BSD-3-Clause
#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "base/crc32c_ways.h"
#include "base/random.h"

namespace omx {
namespace {

std::uint32_t bitwise_step(std::uint32_t crc, std::uint8_t byte) {
  crc ^= byte;
  for (int i = 0; i < 8; i++) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78U : crc >> 1;
  return crc;
}

std::uint32_t bitwise(const std::vector<std::uint8_t>& data) {
  std::uint32_t crc = ~0U;
  for (const std::uint8_t byte : data) crc = bitwise_step(crc, byte);
  return ~crc;
}

std::vector<std::uint8_t> random_bytes(std::size_t count) {
  Random random(1);
  std::vector<std::uint8_t> data(count);
  for (auto& byte : data) byte = static_cast<std::uint8_t>(random.next());
  return data;
}

// Compares a way with the bitwise reference, for all lengths up to more than a round of three streams.
void way_check(crc32c_ways::Way way) {
  constexpr std::size_t kLongest = 4400;
  const std::vector<std::uint8_t> data = random_bytes(kLongest + 16);
  for (const std::uint32_t begin : {~0U, 0U, 0x12345678U}) {
    for (std::size_t start = 0; start < 9; start++) {
      std::uint32_t expected = begin;
      for (std::size_t length = 0; length <= kLongest; length++) {
        ASSERT_EQ(way(begin, data.data() + start, length), expected)
            << "length " << length << " from " << start;
        expected = bitwise_step(expected, data[start + length]);
      }
    }
  }
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
  const std::vector<std::uint8_t> data = random_bytes(300);
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

TEST(Crc32c, by_table__as_bitwise) {
  // A byte at a time: no length is special.
  const std::vector<std::uint8_t> data = random_bytes(64);
  EXPECT_EQ(~crc32c_ways::by_table(~0U, data.data(), data.size()), bitwise(data));
}

TEST(Crc32c, by_instruction__every_length_and_alignment) {
  const auto way = crc32c_ways::by_instruction();
  if (!way) GTEST_SKIP() << "this processor has no instruction for CRC-32C";
  way_check(way);
}

TEST(Crc32c, by_streams__every_length_and_alignment) {
  const auto way = crc32c_ways::by_streams();
  if (!way) GTEST_SKIP() << "this processor has no instruction for CRC-32C, or none for carry-less products";
  way_check(way);
}

TEST(Crc32c, by_streams__far_longer_than_a_round) {
  const auto way = crc32c_ways::by_streams();
  if (!way) GTEST_SKIP() << "this processor has no instruction for CRC-32C, or none for carry-less products";
  const std::vector<std::uint8_t> data = random_bytes(1'000'003);
  EXPECT_EQ(~way(~0U, data.data(), data.size()), bitwise(data));
}

}  // namespace
}  // namespace omx
