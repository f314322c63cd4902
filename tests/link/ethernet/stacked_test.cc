// SPDX-License-Identifier: BSD-3-Clause
// Tests of stacked interfaces: an endpoint gets only the frames of its own interface.
#include <sys/socket.h>

#include "tests/link/fanout/fanout_neighbours.h"
#include "wire/packets.h"

namespace omx::link {
namespace {

constexpr std::uint8_t kPullReply = static_cast<std::uint8_t>(wire::PacketType::pull_reply);

// A macvlan `mv` is on v1, and v0 is the other end of the cable.
class stacked : public CableTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    CableTest::SetUp();
    if (IsSkipped()) return;
    OMX_SKIP_BY_UDP();
    far_ = open("v0");
  }
  void stack(const std::string& mode) {
    if (std::system(("ip link add mv link v1 type macvlan mode " + mode + " 2>/dev/null").c_str()) != 0)
      GTEST_SKIP() << "this kernel has no macvlan";
    ip("link set mv up");
  }
  PacketLinkOptions options() const {
    PacketLinkOptions options = GetParam() ? shared(0) : PacketLinkOptions{};
    options.endpoint = 0;
    return options;
  }
  // Sends frames of each kind that an endpoint may get to the address `nic`, of v1 or `mv`.
  void send_to(NicId nic) {
    for (const std::uint8_t type : {std::uint8_t{37}, std::uint8_t{39}, kPullReply})
      frame_queue(*far_, make_frame(nic, far_->interface().nic(), 100, type));
    far_->flush();
  }
  std::unique_ptr<Transport> far_;
};

TEST_P(stacked, macvlan__each_gets_its_own) {
  stack("bridge");
  if (IsSkipped()) return;
  auto lower = open("v1", options());
  auto upper = open("mv", options());
  ASSERT_NE(lower->interface().nic(), upper->interface().nic());
  const bool bulk = lower->bulk_path()->expect() && lower->bulk_path()->descriptor() >= 0;
  EXPECT_TRUE(lower->wakeup()->open() || GetParam());
  if (!bulk)
    std::printf(
        "without a socket for pull replies: that needs CAP_NET_ADMIN or a larger net.core.rmem_max\n");
  Collector of_lower, of_upper;
  send_to(upper->interface().nic());
  ASSERT_TRUE(receive_until(*upper, of_upper, 2));
  send_to(lower->interface().nic());
  ASSERT_TRUE(receive_until(*lower, of_lower, 2));
  // All frames have been delivered by now, because a veth hands them over in order.
  while (lower->receive(of_lower, 64) > 0) {
  }
  for (const Bytes& frame : of_lower.frames) EXPECT_EQ(mac_load(frame.data()), lower->interface().nic());
  for (const Bytes& frame : of_upper.frames) EXPECT_EQ(mac_load(frame.data()), upper->interface().nic());
  for (const int fd : {lower->bulk_path()->descriptor(), lower->wakeup()->descriptor()}) {
    std::byte frame[128];
    for (ssize_t n; fd >= 0 && (n = ::recv(fd, frame, sizeof frame, MSG_DONTWAIT)) > 0;)
      EXPECT_EQ(mac_load(frame), lower->interface().nic());
  }
}

// Both interfaces have the same address, and all frames go to the upper one.
TEST_P(stacked, macvlan_passthru__the_lower_one_gets_nothing) {
  stack("passthru");
  if (IsSkipped()) return;
  auto lower = open("v1", options());
  auto upper = open("mv", options());
  ASSERT_EQ(lower->interface().nic(), upper->interface().nic());
  Collector of_lower, of_upper;
  send_to(upper->interface().nic());
  ASSERT_TRUE(receive_until(*upper, of_upper, 2));
  lower->receive(of_lower, 64);
  EXPECT_EQ(of_lower.frames.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(hooks, stacked, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "shared" : "its_own"; });

}  // namespace
}  // namespace omx::link
