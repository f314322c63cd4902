// SPDX-License-Identifier: BSD-3-Clause
// Tests of the socket for pull replies. Data are received into the place where they are expected, and moved
// when they belong elsewhere.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include "places.h"

namespace omx::link {
namespace {

constexpr std::size_t kData = 1000;

class bulk_socket : public CableTest {
 protected:
  void SetUp() override {
    CableTest::SetUp();
    if (IsSkipped()) return;
    a_ = open("v0");
    b_ = open("v1");
    b_->bulk_path()->expect();
    if (b_->bulk_path()->descriptor() < 0)
      GTEST_SKIP() << "the bulk socket needs CAP_NET_ADMIN or a larger net.core.rmem_max";
  }
  Bytes reply(std::uint8_t number, std::size_t data = kData) {
    return make_reply(b_->interface().nic(), a_->interface().nic(), number, data);
  }
  // Locks the filter of that socket, so that it cannot be changed any more.
  static void filter_lock(int fd) {
    const int on = 1;
    ASSERT_EQ(::setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof on), 0);
  }
  // Sends all frames at once, so that they come in one batch or two.
  void pass(const std::vector<Bytes>& frames, Places& places) {
    for (const Bytes& frame : frames) frame_queue(*a_, frame);
    a_->flush();
    std::size_t got = 0;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (got < frames.size() && std::chrono::steady_clock::now() < limit)
      got += b_->bulk_path()->receive(places, 64);
    ASSERT_EQ(got, frames.size());
  }
  std::unique_ptr<Transport> a_, b_;
};

TEST_F(bulk_socket, in_order__nothing_is_moved) {
  Places places(20, kData);
  std::vector<Bytes> frames;
  for (std::uint8_t n = 0; n < 20; n++) frames.push_back(reply(n));
  pass(frames, places);
  expect_all_right(places, kData);
  EXPECT_EQ(places.placed, 20);
  EXPECT_EQ(b_->counters().bulk_placed, 20U);
}

TEST_F(bulk_socket, one_lost__the_others_are_moved_and_none_is_spoilt) {
  Places places(20, kData);
  std::vector<Bytes> frames;
  for (std::uint8_t n = 1; n < 20; n++) frames.push_back(reply(n));
  frames.push_back(reply(0));
  pass(frames, places);
  expect_all_right(places, kData);
  EXPECT_GT(b_->counters().bulk_moved, 0U);
}

TEST_F(bulk_socket, any_order__each_swap_is_put_right) {
  for (unsigned seed = 1; seed <= 30; seed++) {
    Places places(24, kData);
    std::vector<Bytes> frames;
    for (std::uint8_t n = 0; n < 24; n++) frames.push_back(reply(n));
    std::srand(seed);
    for (unsigned swaps = 0; swaps < seed; swaps++)
      std::swap(frames[static_cast<std::size_t>(std::rand()) % 24],
                frames[static_cast<std::size_t>(std::rand()) % 24]);
    frames.push_back(frames[seed % 24]);  // and one comes twice
    pass(frames, places);
    expect_all_right(places, kData);
  }
}

// Frames that are shorter or longer than their place, or that have none, are handed over whole.
TEST_F(bulk_socket, others__are_put_together_again) {
  Places places(8, kData);
  const std::vector<Bytes> frames{reply(100, 28),  reply(0), reply(101, 1400),
                                  reply(102, 400), reply(1), reply(103, kData)};
  pass(frames, places);
  std::vector<Bytes> moved;
  for (const Bytes& frame : places.moved) {
    if (Places::number(frame) >= 100) moved.push_back(frame);
  }
  EXPECT_THAT(moved, testing::UnorderedElementsAre(frames[0], frames[2], frames[3], frames[5]));
  EXPECT_TRUE(places.got[0] && places.got[1]);
  EXPECT_EQ(std::memcmp(places.memory.data(), frames[1].data() + wire::kBulkHeader, kData), 0);
}

// A path that is no longer to take large messages leaves them to the ring, and no frame is lost meanwhile.
TEST_F(bulk_socket, forgone__frames_come_by_the_ring_and_back) {
  Places places(30, kData);
  pass({reply(0)}, places);
  const auto by_ring = [&](std::uint8_t number) {
    frame_send(*a_, reply(number));
    Collector ring;
    return receive_until(*b_, ring, 1) && b_->bulk_path()->receive(places, 64) == 0;
  };
  EXPECT_TRUE(b_->bulk_path()->forgo());
  EXPECT_TRUE(by_ring(1));
  EXPECT_GE(b_->bulk_path()->descriptor(), 0);
  EXPECT_TRUE(b_->bulk_path()->expect());
  pass({reply(2)}, places);
  EXPECT_TRUE(places.got[2]);

  b_->bulk_path()->close();
  EXPECT_GE(b_->bulk_path()->descriptor(), 0) << "it takes frames";
  EXPECT_TRUE(b_->bulk_path()->forgo());
  b_->bulk_path()->close();
  EXPECT_LT(b_->bulk_path()->descriptor(), 0);
  EXPECT_TRUE(by_ring(3));
  EXPECT_TRUE(b_->bulk_path()->expect());
  ASSERT_GE(b_->bulk_path()->descriptor(), 0);
  pass({reply(4)}, places);
  EXPECT_TRUE(places.got[4]);
}

// Whichever filter cannot be changed, one of the two sockets takes large messages.
TEST_F(bulk_socket, filter_of_the_ring_cannot_be_set__not_begun) {
  b_ = open("v1");
  filter_lock(b_->descriptor());
  EXPECT_FALSE(b_->bulk_path()->expect());
  Collector ring;
  frame_send(*a_, reply(0));
  EXPECT_TRUE(receive_until(*b_, ring, 1));
  Places places(4, kData);
  EXPECT_EQ(b_->bulk_path()->receive(places, 64), 0U) << "both take it";
}

TEST_F(bulk_socket, filter_of_the_ring_cannot_be_set__not_ended) {
  Places places(4, kData);
  filter_lock(b_->descriptor());
  EXPECT_FALSE(b_->bulk_path()->forgo());
  b_->bulk_path()->close();
  pass({reply(0)}, places);
  EXPECT_TRUE(places.got[0]);
}

TEST_F(bulk_socket, filter_of_the_bulk_cannot_be_set__by_the_ring_until_there_is_a_new_bulk) {
  Places places(4, kData);
  ASSERT_TRUE(b_->bulk_path()->forgo());
  filter_lock(b_->bulk_path()->descriptor());
  EXPECT_FALSE(b_->bulk_path()->expect());
  frame_send(*a_, reply(0));
  Collector ring;
  EXPECT_TRUE(receive_until(*b_, ring, 1));
  b_->bulk_path()->close();
  EXPECT_TRUE(b_->bulk_path()->expect());
  pass({reply(1)}, places);
  EXPECT_TRUE(places.got[1]);
}

// A frame that waits in the bulk socket is read although the socket takes no more.
TEST_F(bulk_socket, forgone_with_a_frame_in_it__not_lost) {
  Places places(4, kData);
  frame_send(*a_, reply(0));
  pollfd wait{b_->bulk_path()->descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&wait, 1, 5000), 1);
  EXPECT_TRUE(b_->bulk_path()->forgo());
  EXPECT_EQ(b_->bulk_path()->receive(places, 64), 1U);
  EXPECT_TRUE(places.got[0]);
}

}  // namespace
}  // namespace omx::link
