// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/outage_text.h"

#include <gmock/gmock.h>

namespace omx::runtime {
namespace {

using link::Outage;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string text(Outage outage, bool udp = false, bool follows = true, bool up = false) {
  OutageFacts facts;
  facts.interface = "eth0";
  facts.outage = outage;
  facts.known = udp ? 0 : 0x02'00'00'00'00'01;
  if (udp) facts.ip = "10.77.0.1";
  facts.now.nic = 0x02'00'00'00'00'09;
  facts.follows = follows;
  facts.up = up;
  facts.obstacle = "endpoint 3 is held by process 7 (other)";
  return outage_text(facts);
}

TEST(outage_text, waits_only_where_that_is_true) {
  constexpr const char* kWait = "messages wait for it until their peers are given up (OMX_PEER_TIMEOUT_MS)";
  EXPECT_THAT(text(Outage::down),
              AllOf(HasSubstr("eth0 is down"), HasSubstr(kWait), HasSubstr("ip link set dev eth0 up")));
  EXPECT_THAT(text(Outage::no_carrier), AllOf(HasSubstr("no carrier"), HasSubstr(kWait), HasSubstr("cable"),
                                              Not(HasSubstr("ip link"))));
  EXPECT_THAT(text(Outage::gone),
              AllOf(HasSubstr("eth0 is gone"), HasSubstr(kWait),
                    HasSubstr("under this name, with the MAC address 02:00:00:00:00:01")));
  EXPECT_THAT(text(Outage::gone, true), HasSubstr("under this name, with the address 10.77.0.1"));
  EXPECT_THAT(text(Outage::gone, false, false),
              AllOf(HasSubstr("restart the program then"), Not(HasSubstr("wait"))));
  for (const Outage lasting : {Outage::replaced, Outage::returned, Outage::readdressed})
    EXPECT_THAT(text(lasting), Not(HasSubstr("wait")));
  EXPECT_THAT(text(Outage::withdrawn),
              AllOf(HasSubstr("withdrawn this endpoint of eth0"), Not(HasSubstr("wait"))));
  EXPECT_EQ(text(Outage::none, false, true, true), "eth0 is up again");
}

// The interface works, but the link lost its ring when the interface's frames grew.
TEST(outage_text, up_without_a_ring__says_so) {
  EXPECT_THAT(text(Outage::none), AllOf(HasSubstr("eth0 receives nothing"), HasSubstr("no memory"),
                                        HasSubstr("lower OMX_RING_FRAMES"), Not(HasSubstr("up again"))));
}

TEST(outage_text, addresses_and_their_remedy) {
  constexpr const char* kRemedy = "ip link set dev eth0 address 02:00:00:00:00:01, or restart the program";
  EXPECT_THAT(text(Outage::replaced),
              AllOf(HasSubstr("with the MAC address 02:00:00:00:00:09"), HasSubstr(kRemedy)));
  EXPECT_THAT(text(Outage::readdressed),
              AllOf(HasSubstr("the MAC address of eth0 is 02:00:00:00:00:09 now"), HasSubstr(kRemedy)));
  EXPECT_THAT(text(Outage::replaced, true), HasSubstr("ip address add 10.77.0.1/BITS dev eth0"));
  EXPECT_THAT(text(Outage::returned),
              HasSubstr("does not go on with it: endpoint 3 is held by process 7 (other)"));
}

}  // namespace
}  // namespace omx::runtime
