// SPDX-License-Identifier: BSD-3-Clause
#include "tuning/napi.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/support/scripted_netlink.h"

namespace omx::tuning {
namespace {

// An answer of Linux 6.18 with changed values: NAPI 257 of interface 4, and the end.
const std::string kQueue =
    "440000001400000001000000673a00000b010000"
    "0800020001010000080001000400000008000800000000000800050007000000"
    "08000700002d31010800060088130000";
const std::string kEnd = "140000000300020001000000673a000000000000";
// An answer without suspension, but with an interrupt (41) and a time of eight bytes: 5000000000 ns.
const std::string kOlder =
    "380000001400020001000000673a00000b010000"
    "0800020002010000080003002900000008000500010000000c00060000f2052a01000000";

// The answer of the family's controller: the number is 20.
const std::string kFamily =
    "1c00000010000000010000000000000001020000"
    "0600010014000000";
const std::string kAcknowledged = "2400000002000001010000000000000000000000200000001000050001000000a9f71a00";

class napis : public testing::Test {
 protected:
  napis() {
    auto port = std::make_unique<ScriptedNetlink>();
    kernel = port.get();
    conversation = std::make_unique<Netlink>(std::move(port));
  }
  Expected<std::vector<Napi>, int> read(std::vector<Datagram> answer) {
    kernel->answer({bytes_of(kFamily), bytes_of(kAcknowledged)});
    kernel->answer(std::move(answer));
    return napis_read(*conversation, 4);
  }

  ScriptedNetlink* kernel = nullptr;
  std::unique_ptr<Netlink> conversation;
};

TEST_F(napis, as_the_kernel_sent_them) {
  // These messages are a dump, although no flag says that more follow.
  const auto found = read({bytes_of(kQueue), bytes_of(kOlder), bytes_of(kEnd)});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].id, 257U);
  EXPECT_EQ((*found)[0].interrupt, 0U);
  EXPECT_EQ((*found)[0].defer_hard_irqs, 7U);
  EXPECT_EQ((*found)[0].gro_flush_timeout, 5000U);
  EXPECT_EQ((*found)[0].irq_suspend_timeout, 20000000U);
  EXPECT_EQ((*found)[1].interrupt, 41U);
  EXPECT_EQ((*found)[1].gro_flush_timeout, 5000000000U);
  EXPECT_FALSE((*found)[1].irq_suspend_timeout);
  EXPECT_EQ(kernel->requests[1].nlmsg_type, 20);
}

TEST_F(napis, of_a_torn_answer_are_read_again) {
  kernel->answer({bytes_of(kFamily), bytes_of(kAcknowledged)});
  kernel->answer({bytes_of(kQueue), netlink_end(NLMSG_DONE, 0, NLM_F_DUMP_INTR)});
  kernel->answer({bytes_of(kQueue), bytes_of(kOlder), bytes_of(kEnd)});
  const auto found = napis_read(*conversation, 4);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 2U);
}

TEST_F(napis, refusals_and_damage) {
  EXPECT_EQ(read({netlink_end(NLMSG_ERROR, EOPNOTSUPP)}).error(), EOPNOTSUPP);
  const auto whole = bytes_of(kOlder);
  for (std::size_t size = 16; size < whole.size(); size++)
    EXPECT_EQ(read({{whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}}).error(), EIO)
        << size;
  // These attributes claim to be longer than the message, or shorter than their own header.
  for (const char* length : {"ff00", "0000", "0300"}) {
    auto damaged = bytes_of(kOlder);
    const auto head = bytes_of(length);
    damaged[20] = head[0], damaged[21] = head[1];
    const auto found = read({damaged, bytes_of(kEnd)});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->back().id, 0U);
  }
}

TEST_F(napis, of_a_kernel_without_the_family) {
  kernel->answer({netlink_end(NLMSG_ERROR, ENOENT)});
  EXPECT_EQ(napis_read(*conversation, 4).error(), EOPNOTSUPP);
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
