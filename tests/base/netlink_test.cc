// SPDX-License-Identifier: BSD-3-Clause
#include "base/netlink.h"

#include <gmock/gmock.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include "tests/support/scripted_netlink.h"

namespace omx {
namespace {

using testing::ElementsAre;

constexpr std::uint16_t kObject = 16;
constexpr std::uint16_t kMulti = NLM_F_MULTI;
constexpr std::uint16_t kTorn = NLM_F_MULTI | NLM_F_DUMP_INTR;

Datagram object(std::uint8_t number, std::uint16_t flags = kMulti) {
  return netlink_message(kObject, flags, {std::byte{number}});
}

class netlink : public testing::Test {
 protected:
  netlink() {
    auto port = std::make_unique<ScriptedNetlink>();
    kernel = port.get();
    conversation = std::make_unique<Netlink>(std::move(port));
  }

  int dump() {
    return conversation->dump(NetlinkRequest(kObject, std::uint32_t{0}), [this](const NetlinkMessage& m) {
      found.push_back(static_cast<int>(m.body[0]));
    });
  }

  ScriptedNetlink* kernel = nullptr;
  std::unique_ptr<Netlink> conversation;
  std::vector<int> found;
};

TEST_F(netlink, a_request_is_as_the_kernel_wants_it) {
  kernel->answer({netlink_end(NLMSG_ERROR, 0)});
  NetlinkRequest request(kObject, std::uint8_t{7});
  request.attribute(3, "ab", 2);
  request.attribute(4, std::uint32_t{5});
  EXPECT_EQ(conversation->ask(std::move(request)), 0);
  EXPECT_EQ(kernel->requests[0].nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
  Datagram head = bytes_of("2400000010000500");
  EXPECT_EQ(Datagram(kernel->sent[0].begin(), kernel->sent[0].begin() + 8), head);
  EXPECT_EQ(Datagram(kernel->sent[0].begin() + 16, kernel->sent[0].end()), bytes_of("07000000"
                                                                                    "0600030061620000"
                                                                                    "0800040005000000"));
}

TEST_F(netlink, a_request_with_flags_and_nested_attributes) {
  kernel->answer({netlink_end(NLMSG_ERROR, 0)});
  NetlinkRequest request(kObject, std::uint8_t{7});
  request.flags(NLM_F_CREATE | NLM_F_EXCL);
  const std::size_t outer = request.nest_begin(1);
  request.attribute(3, "ab", 2);
  const std::size_t inner = request.nest_begin(2);
  request.attribute(4, std::uint32_t{5});
  request.nest_end(inner);
  request.nest_end(outer);
  request.attribute(5, std::uint8_t{6});
  EXPECT_EQ(conversation->ask(std::move(request)), 0);
  EXPECT_EQ(kernel->requests[0].nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
  EXPECT_EQ(Datagram(kernel->sent[0].begin() + 20, kernel->sent[0].end()), bytes_of("18000100"
                                                                                    "0600030061620000"
                                                                                    "0c000200"
                                                                                    "0800040005000000"
                                                                                    "0500050006000000"));
}

TEST_F(netlink, dump__of_several_datagrams) {
  kernel->answer({object(1), object(2), netlink_end(NLMSG_DONE, 0, kMulti)});
  EXPECT_EQ(dump(), 0);
  EXPECT_THAT(found, ElementsAre(1, 2));
  EXPECT_EQ(kernel->requests[0].nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
}

TEST_F(netlink, dump__torn_is_asked_for_again_and_its_parts_are_not_handed_on) {
  kernel->answer({object(1), object(3, kTorn), netlink_end(NLMSG_DONE, 0, kMulti)});
  kernel->answer({object(1), netlink_end(NLMSG_DONE, 0, kTorn)});  // the end alone may carry the flag
  kernel->answer({object(1), object(2), object(3), netlink_end(NLMSG_DONE, 0, kMulti)});
  EXPECT_EQ(dump(), 0);
  EXPECT_THAT(found, ElementsAre(1, 2, 3));
  ASSERT_EQ(kernel->requests.size(), 3U);
  EXPECT_NE(kernel->requests[0].nlmsg_seq, kernel->requests[2].nlmsg_seq);
}

TEST_F(netlink, dump__that_ends_with_an_error_of_the_moment_is_asked_for_again) {
  kernel->answer({object(1), netlink_end(NLMSG_DONE, EINTR)});
  kernel->answer({netlink_end(NLMSG_ERROR, EBUSY)});
  kernel->answer({object(1), object(2), netlink_end(NLMSG_DONE, 0)});
  EXPECT_EQ(dump(), 0);
  EXPECT_THAT(found, ElementsAre(1, 2));
}

TEST_F(netlink, dump__whose_parts_were_lost_is_asked_for_again) {
  kernel->answer({object(9), netlink_end(NLMSG_DONE, 0)});
  kernel->answer({object(1), netlink_end(NLMSG_DONE, 0)});
  kernel->fail_receive(ENOBUFS);
  EXPECT_EQ(dump(), 0);
  EXPECT_THAT(found, ElementsAre(1)) << "what was left of the first answer is not of the second";
}

TEST_F(netlink, dump__torn_each_time_ends) {
  for (int i = 0; i < Netlink::kMostAttempts; i++)
    kernel->answer({object(1, kTorn), netlink_end(NLMSG_DONE, 0)});
  EXPECT_EQ(dump(), EAGAIN);
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(kernel->requests.size(), static_cast<std::size_t>(Netlink::kMostAttempts));
}

TEST_F(netlink, dump__refused) {
  kernel->answer({netlink_end(NLMSG_ERROR, EOPNOTSUPP)});
  EXPECT_EQ(dump(), EOPNOTSUPP);
  EXPECT_EQ(kernel->requests.size(), 1U);
}

TEST_F(netlink, ask__a_message_and_the_acknowledgement_in_one_datagram_or_two) {
  Datagram both = object(1, 0);
  const Datagram end = netlink_end(NLMSG_ERROR, 0);
  both.insert(both.end(), end.begin(), end.end());
  const auto see = [this](const NetlinkMessage& m) { found.push_back(static_cast<int>(m.body[0])); };
  kernel->answer({both});
  EXPECT_EQ(conversation->ask(NetlinkRequest(kObject, std::uint32_t{0}), see), 0);
  kernel->answer({object(2, 0), end});
  EXPECT_EQ(conversation->ask(NetlinkRequest(kObject, std::uint32_t{0}), see), 0);
  EXPECT_THAT(found, ElementsAre(1, 2));
}

TEST_F(netlink, messages_that_answer_nothing_are_left_out) {
  kernel->answer({netlink_message(kObject, 0, {std::byte{9}}, ScriptedNetlink::kStray), object(1),
                  netlink_message(NLMSG_NOOP, 0, {}), netlink_end(NLMSG_DONE, 0)});
  EXPECT_EQ(dump(), 0);
  EXPECT_THAT(found, ElementsAre(1));
}

TEST_F(netlink, damaged_datagrams_end_with_an_error) {
  const Datagram whole = object(1);
  for (std::size_t size = 1; size < whole.size(); size++) {
    if (size == sizeof(nlmsghdr) + 1) continue;  // only padding is missing then
    kernel->answer({Datagram(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))});
    EXPECT_EQ(dump(), size < sizeof(nlmsghdr) + 1 ? EIO : ETIMEDOUT) << size;
  }
  EXPECT_TRUE(found.empty());
}

TEST(netlink_attributes_visit, stops_at_a_malformed_one) {
  std::vector<int> types;
  const auto see = [&types](std::uint16_t type, NetlinkBytes) { types.push_back(type); };
  netlink_attributes_visit(bytes_of("0500030061000000"
                                    "0400048000000000"),
                           see);
  EXPECT_THAT(types, ElementsAre(3, 4)) << "the flag of nested attributes is no part of the type";
  for (const char* length : {"ff00", "0000", "0300"}) {
    types.clear();
    netlink_attributes_visit(bytes_of(std::string(length) + "0200aabbccdd"), see);
    EXPECT_TRUE(types.empty()) << length;
  }
}

TEST(netlink_kernel, tells_the_loopback_interface) {
  Netlink kernel(NETLINK_ROUTE);
  std::vector<std::string> names;
  const int error = kernel.dump(NetlinkRequest(RTM_GETLINK, ifinfomsg{}), [&](const NetlinkMessage& message) {
    NetlinkBytes attributes = message.body;
    ASSERT_TRUE(netlink_head_take<ifinfomsg>(attributes));
    netlink_attributes_visit(attributes, [&names](std::uint16_t type, NetlinkBytes data) {
      if (type == IFLA_IFNAME) names.emplace_back(netlink_text(data));
    });
  });
  if (error == EPERM || error == EAFNOSUPPORT) GTEST_SKIP() << "no netlink here: " << std::strerror(error);
  ASSERT_EQ(error, 0);
  EXPECT_THAT(names, testing::Contains("lo"));
  ifinfomsg none{};
  none.ifi_index = 0x7ffffff0;
  EXPECT_EQ(kernel.ask(NetlinkRequest(RTM_GETLINK, none)), ENODEV) << "the same conversation asks again";
}

}  // namespace
}  // namespace omx
