// SPDX-License-Identifier: BSD-3-Clause
// The lane of pull replies: data received into the place where they should belong, and moved when they do
// not.
#include <gmock/gmock.h>

#include <cstring>

#include "base/bytes.h"
#include "test_network.h"
#include "wire/packets.h"

namespace omx::link {
namespace {

constexpr std::size_t kData = 1000;
constexpr std::uint8_t kReply = 42;

// Frames are told by the byte at F17 (the frame number of a PULL_REPLY), and numbered frame n belongs to
// place n.
class Places : public BulkHandler {
 public:
  explicit Places(std::size_t count) : memory(count * kData), got(count) {}

  std::size_t bulk_places(std::span<iovec> places) override {
    offered_.clear();
    for (std::size_t n = 0; n < got.size() && offered_.size() < places.size(); n++) {
      if (got[n]) continue;
      places[offered_.size()] = {memory.data() + n * kData, kData};
      offered_.push_back(n);
    }
    return offered_.size();
  }
  bool bulk_in_place(std::size_t index, wire::Frame frame) override {
    judged++;
    return frame.size() == wire::kBulkHeader + kData && number(frame) == offered_.at(index);
  }
  void on_bulk_placed(wire::Frame frame) override {
    got.at(number(frame)) = true;
    placed++;
  }
  void on_bulk_frame(wire::Frame frame) override {
    moved.emplace_back(frame.begin(), frame.end());
    if (frame.size() != wire::kBulkHeader + kData || number(frame) >= got.size()) return;
    std::memcpy(memory.data() + number(frame) * kData, frame.data() + wire::kBulkHeader, kData);
    got[number(frame)] = true;
  }
  static std::size_t number(wire::Frame frame) { return static_cast<std::size_t>(frame[17]); }

  Bytes memory;
  std::vector<bool> got;
  std::vector<Bytes> moved;
  int placed = 0, judged = 0;

 private:
  std::vector<std::size_t> offered_;
};

class bulk_lane : public CableTest {
 protected:
  void SetUp() override {
    CableTest::SetUp();
    if (IsSkipped()) return;
    a_ = open("v0");
    b_ = open("v1");
    b_->bulk_expect();
    if (b_->bulk_descriptor() < 0)
      GTEST_SKIP() << "the bulk lane needs CAP_NET_ADMIN or a larger net.core.rmem_max";
  }
  Bytes reply(std::uint8_t number, std::size_t data = kData) {
    Bytes frame = make_frame(b_->nic(), a_->nic(), wire::kBulkHeader + data, kReply, 0, number);
    frame[17] = static_cast<std::byte>(number);
    store_be32(frame.data() + 28, wire::kPullMagic);
    for (std::size_t i = wire::kBulkHeader; i < frame.size(); i++)
      frame[i] = static_cast<std::byte>(number * 7 + i);
    return frame;
  }
  // All at once, so that they come in one batch or two.
  void pass(const std::vector<Bytes>& frames, Places& places) {
    for (const Bytes& frame : frames) frame_queue(*a_, frame);
    a_->flush();
    std::size_t got = 0;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (got < frames.size() && std::chrono::steady_clock::now() < limit)
      got += b_->bulk_receive(places, 64);
    ASSERT_EQ(got, frames.size());
  }
  void expect_all_right(const Places& places) {
    for (std::size_t n = 0; n < places.got.size(); n++) {
      EXPECT_TRUE(places.got[n]) << n;
      const Bytes whole = reply(static_cast<std::uint8_t>(n));
      EXPECT_EQ(std::memcmp(places.memory.data() + n * kData, whole.data() + wire::kBulkHeader, kData), 0)
          << n;
    }
  }
  std::unique_ptr<Link> a_, b_;
};

TEST_F(bulk_lane, in_order__nothing_is_moved) {
  Places places(20);
  std::vector<Bytes> frames;
  for (std::uint8_t n = 0; n < 20; n++) frames.push_back(reply(n));
  pass(frames, places);
  expect_all_right(places);
  EXPECT_EQ(places.placed, 20);
  EXPECT_EQ(b_->counters().bulk_placed, 20U);
}

TEST_F(bulk_lane, one_lost__the_others_are_moved_and_none_is_spoilt) {
  Places places(20);
  std::vector<Bytes> frames;
  for (std::uint8_t n = 1; n < 20; n++) frames.push_back(reply(n));
  frames.push_back(reply(0));
  pass(frames, places);
  expect_all_right(places);
  EXPECT_GT(b_->counters().bulk_moved, 0U);
}

TEST_F(bulk_lane, any_order__each_swap_is_put_right) {
  for (unsigned seed = 1; seed <= 30; seed++) {
    Places places(24);
    std::vector<Bytes> frames;
    for (std::uint8_t n = 0; n < 24; n++) frames.push_back(reply(n));
    std::srand(seed);
    for (unsigned swaps = 0; swaps < seed; swaps++)
      std::swap(frames[static_cast<std::size_t>(std::rand()) % 24],
                frames[static_cast<std::size_t>(std::rand()) % 24]);
    frames.push_back(frames[seed % 24]);  // and one comes twice
    pass(frames, places);
    expect_all_right(places);
  }
}

// Shorter and longer than their place, or nobody's: whole frames are handed over.
TEST_F(bulk_lane, others__are_put_together_again) {
  Places places(8);
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

}  // namespace
}  // namespace omx::link
