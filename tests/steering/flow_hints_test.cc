// SPDX-License-Identifier: BSD-3-Clause
#include "steering/flow_hints.h"

#include <gmock/gmock.h>

#include "tests/support/fake_flows.h"

namespace omx::steering {
namespace {

constexpr std::uint16_t kPort = 27200;

class flow_hints_of_nic : public testing::Test {
 protected:
  flow_hints_of_nic() { nic.places = 64; }
  void add(bool ipv6, std::uint16_t port, std::uint32_t queue, std::uint32_t place) {
    ASSERT_EQ(flow_insert(nic.call(), {ipv6, port, queue, place}), 0);
  }
  std::vector<int> hints(bool ipv4, bool ipv6) {
    return flow_hints(*flow_table_read(nic.call()), {kPort, ipv4, ipv6});
  }

  FakeFlows nic;
};

TEST_F(flow_hints_of_nic, by_the_port_of_the_endpoint) {
  add(false, kPort, 3, 10);
  add(false, kPort + 255, 1, 11);
  add(false, kPort + 256, 2, 12);  // the bulk path, which does not decide
  add(false, kPort - 1, 2, 13);
  const auto found = hints(true, false);
  ASSERT_EQ(found.size(), 256U);
  EXPECT_EQ(found[0], 3);
  EXPECT_EQ(found[255], 1);
  EXPECT_EQ(std::count(found.begin(), found.end(), -1), 254);
}

TEST_F(flow_hints_of_nic, none_for_us) {
  add(false, 80, 1, 0);
  EXPECT_TRUE(hints(true, false).empty());
  add(true, kPort, 1, 1);
  EXPECT_TRUE(hints(true, false).empty()) << "of the other family";
  EXPECT_EQ(hints(false, true)[0], 1);
}

TEST_F(flow_hints_of_nic, the_first_of_several) {
  add(false, kPort, 5, 20);
  add(false, kPort, 4, 2);
  EXPECT_EQ(hints(true, false)[0], 4);
}

TEST(flow_hints_read, no_such_interface) {
  EXPECT_TRUE(flow_hints_read("none0", {kPort, true, true}).empty());
}

}  // namespace
}  // namespace omx::steering
