// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/napi.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace omx::tuning {
namespace {

std::vector<std::byte> bytes_of(std::string_view hexadecimal) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoul(std::string(hexadecimal.substr(i, 2)), nullptr, 16)));
  return bytes;
}

// As Linux 6.18 answered, but for values: NAPI 257 of interface 4, and the end.
const std::string kQueue =
    "440000001400000001000000673a00000b010000"
    "0800020001010000080001000400000008000800000000000800050007000000"
    "08000700002d31010800060088130000";
const std::string kEnd = "140000000300020001000000673a000000000000";
// The same without suspension, with an interrupt (41), and a time of eight bytes: 5000000000 ns.
const std::string kOlder =
    "380000001400020001000000673a00000b010000"
    "0800020002010000080003002900000008000500010000000c00060000f2052a01000000";

TEST(napis_parse, as_the_kernel_sent_it) {
  std::vector<Napi> found;
  const auto first = napis_parse(bytes_of(kQueue), found);
  ASSERT_TRUE(first);
  EXPECT_TRUE(*first);  // a dump, though no flag says that more follows
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, 257U);
  EXPECT_EQ(found[0].interrupt, 0U);
  EXPECT_EQ(found[0].defer_hard_irqs, 7U);
  EXPECT_EQ(found[0].gro_flush_timeout, 5000U);
  EXPECT_EQ(found[0].irq_suspend_timeout, 20000000U);
  const auto older = napis_parse(bytes_of(kOlder), found);
  ASSERT_TRUE(older);
  EXPECT_TRUE(*older);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].interrupt, 41U);
  EXPECT_EQ(found[1].gro_flush_timeout, 5000000000U);
  EXPECT_FALSE(found[1].irq_suspend_timeout);
  const auto end = napis_parse(bytes_of(kEnd), found);
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
  EXPECT_EQ(found.size(), 2U);
}

TEST(napis_parse, refusals_and_damage) {
  std::vector<Napi> found;
  // NLMSG_ERROR with -EOPNOTSUPP (95).
  EXPECT_EQ(napis_parse(bytes_of("14000000020000000100000000000000a1ffffff"), found).error(), EOPNOTSUPP);
  const auto whole = bytes_of(kOlder);
  for (std::size_t size = 16; size < whole.size(); size++)
    EXPECT_EQ(napis_parse({whole.data(), size}, found).error(), EIO) << size;
  // Attributes that say that they are longer than the message, or than nothing.
  for (const char* length : {"ff00", "0000", "0300"}) {
    auto damaged = bytes_of(kOlder);
    const auto head = bytes_of(length);
    damaged[20] = head[0], damaged[21] = head[1];
    EXPECT_TRUE(napis_parse(damaged, found));
    EXPECT_EQ(found.back().id, 0U);
  }
}

TEST(napi_name, and_back) {
  const auto field = napi_name_parse("8193/gro-flush-timeout");
  ASSERT_TRUE(field);
  EXPECT_EQ(field->id, 8193U);
  EXPECT_EQ(napi_name(field->id, field->field), "8193/gro-flush-timeout");
  for (const char* name : {"", "8193", "8193/", "8193/irq-suspend-timeout", "x/defer-hard-irqs",
                           "4294967296/defer-hard-irqs", "1/2/defer-hard-irqs"})
    EXPECT_FALSE(napi_name_parse(name)) << name;
}

}  // namespace
}  // namespace omx::tuning
