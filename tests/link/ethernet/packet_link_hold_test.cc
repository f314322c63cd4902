// SPDX-License-Identifier: BSD-3-Clause
// Frames that stay in the receive ring while copies read them.
#include <cstring>

#include "tests/support/test_network.h"

namespace omx::link {
namespace {

// Keeps every frame, under tickets 1, 2, 3 ...
class Keeper : public FrameHandler {
 public:
  void on_frame(wire::Frame frame) override {
    kept.push_back(frame);
    copies.emplace_back(frame.begin(), frame.end());
  }
  std::uint64_t frame_held() override { return keeps ? ++ticket : 0; }
  bool intact(std::size_t i) const {
    return std::memcmp(kept[i].data(), copies[i].data(), copies[i].size()) == 0;
  }
  bool keeps = true;
  std::uint64_t ticket = 0;
  std::vector<wire::Frame> kept;
  std::vector<Bytes> copies;
};

class packet_link_hold : public CableTest {
 protected:
  void SetUp() override {
    CableTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    a_ = open("v0");
    b_ = open("v1", {.interface = "v1", .ring_frames = 64});
    ASSERT_TRUE(b_->ring()->hold_enable());
    room_ = b_->ring()->slots();
    ASSERT_GE(room_, 64U);
  }
  void send(std::size_t count) {
    for (std::size_t i = 0; i < count; i++)
      frame_send(*a_, make_frame(b_->interface().nic(), a_->interface().nic(), 900, 37, 0,
                                 static_cast<std::uint8_t>(sent_++)));
  }
  bool receive(std::size_t count) {
    return becomes_true([&] {
      b_->receive(keeper_, 1000);
      return keeper_.kept.size() >= count;
    });
  }
  std::unique_ptr<Transport> a_, b_;
  Keeper keeper_;
  std::size_t room_ = 0, sent_ = 0;
};

TEST_F(packet_link_hold, held__are_not_overwritten_nor_handed_over_again) {
  send(room_);
  ASSERT_TRUE(receive(room_));
  EXPECT_EQ(b_->ring()->held(), room_);
  send(20);  // there is no room for them
  b_->receive(keeper_, 1000);
  EXPECT_EQ(keeper_.kept.size(), room_);
  EXPECT_FALSE(b_->pending());
  for (std::size_t i = 0; i < room_; i++) EXPECT_TRUE(keeper_.intact(i)) << i;
}

TEST_F(packet_link_hold, given_back__in_order_and_used_again) {
  send(room_);
  ASSERT_TRUE(receive(room_));
  b_->ring()->give_back(10);
  EXPECT_EQ(b_->ring()->held(), room_ - 10);
  send(10);
  ASSERT_TRUE(receive(room_ + 10));
  EXPECT_EQ(b_->ring()->held(), room_);
  for (std::size_t i = 10; i < room_ + 10; i++) EXPECT_TRUE(keeper_.intact(i)) << i;
  b_->ring()->give_back(keeper_.ticket);
  EXPECT_EQ(b_->ring()->held(), 0U);
  for (int round = 0; round < 5; round++) {
    const std::size_t before = keeper_.kept.size();
    send(room_ / 2);
    ASSERT_TRUE(receive(before + room_ / 2));
    b_->ring()->give_back(keeper_.ticket);
  }
}

// A frame that no copy holds waits behind frames that a copy holds.
TEST_F(packet_link_hold, not_held__behind_held_ones) {
  send(1);
  ASSERT_TRUE(receive(1));
  keeper_.keeps = false;
  send(5);
  ASSERT_TRUE(receive(6));
  EXPECT_EQ(b_->ring()->held(), 6U);
  b_->ring()->give_back(1);
  EXPECT_EQ(b_->ring()->held(), 0U);
}

TEST_F(packet_link_hold, abandoned__frames_come_again) {
  send(10);
  ASSERT_TRUE(receive(10));
  b_->ring()->abandon();
  EXPECT_EQ(b_->ring()->held(), 0U);
  keeper_.kept.clear();
  send(10);
  ASSERT_TRUE(receive(10));
  EXPECT_EQ(b_->ring()->held(), 10U);
  b_->ring()->give_back(keeper_.ticket);
}

}  // namespace
}  // namespace omx::link
