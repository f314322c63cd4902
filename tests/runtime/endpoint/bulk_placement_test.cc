// SPDX-License-Identifier: BSD-3-Clause
// From the receive ring to the bulk path of large messages and back: frames stay in order, and none is left
// behind.
#include "runtime/endpoint/bulk_placement.h"

#include <gtest/gtest.h>

#include <deque>

#include "tests/support/quiet_link.h"

namespace omx::runtime {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::size_t kBudget = 64;

// Numbered frames, and which of the two ways holds each.
class TwoWays final : public QuietLink, public link::BulkPath {
 public:
  TwoWays() : QuietLink(1, 9000, {.bulk_path = this}) {}
  bool expect() override {
    expected++;
    if (refuses) return false;
    open = true;
    return takes = true;
  }
  bool forgo() override {
    if (sticks) return false;
    takes = false;
    return true;
  }
  void close() override {
    EXPECT_TRUE(bulk.empty()) << "closed with frames in it";
    EXPECT_FALSE(takes);
    open = false;
  }
  int descriptor() const override { return -1; }
  std::size_t receive(link::BulkHandler&, std::size_t budget) override {
    if (open) return take(bulk, budget);
    EXPECT_TRUE(bulk.empty());
    return 0;
  }
  bool pending() override { return !ring.empty(); }

  void arrive(unsigned frames) {
    for (; frames > 0; frames--) (takes ? bulk : ring).push_back(next++);
  }
  std::size_t take(std::deque<std::uint64_t>& from, std::size_t most) {
    std::size_t taken = 0;
    for (; taken < most && !from.empty(); taken++) {
      EXPECT_EQ(from.front(), due) << "overtook others";
      due = from.front() + 1;
      from.pop_front();
    }
    return taken;
  }

  bool open = false, takes = false, refuses = false, sticks = false;
  unsigned expected = 0;
  std::uint64_t next = 0, due = 0;
  std::deque<std::uint64_t> ring, bulk;
};

struct Nobody final : link::BulkHandler {
  std::size_t bulk_places(std::span<iovec>) override { return 0; }
  bool bulk_in_place(std::size_t, wire::Frame) override { return false; }
  void on_bulk_placed(std::size_t, wire::Frame) override {}
  void on_bulk_frame(wire::Frame) override {}
};

// An endpoint's turns while a stream comes: one MiB a turn, in a given number of frames.
struct Stream {
  double by_kernel = 0, from_ring = 0;  // bytes per microsecond
  unsigned frames = 700;                // in a MiB: more than a turn reads
  TwoWays link = {};
  BulkPlacement placement = {};
  Nobody handler = {};
  std::uint64_t bytes = 0, news = 0;
  double busy = 0;

  void turn(unsigned arrive) {
    link.arrive(arrive);
    link.take(link.ring, kBudget);
    placement.choose(link, bytes, static_cast<TimeNs>(busy));
    placement.receive(link, handler, kBudget, false);
    news += placement.news() ? 1 : 0;
  }
  void run(std::uint64_t amount) {
    for (const std::uint64_t end = bytes + amount; bytes < end;) {
      bytes += kMiB;
      busy += static_cast<double>(kMiB) / (link.takes ? by_kernel : from_ring) * 1000;
      turn(frames);
      for (unsigned i = 0; i <= frames / 50; i++) turn(5);  // some frames are always on their way
    }
  }
  void expect_all_read() {
    for (int i = 0; i < 100; i++) turn(0);
    EXPECT_EQ(link.due, link.next);
  }
};

TEST(bulk_placement, not_begun__the_bulk_path_from_the_first_message) {
  Stream stream{5000, 5000};
  stream.run(64 * kMiB);
  EXPECT_TRUE(stream.link.takes);
  stream.expect_all_read();
  EXPECT_EQ(stream.news, 0U);
}

TEST(bulk_placement, the_ring_faster__the_bulk_path_is_read_empty_and_closed) {
  Stream stream{5000, 6000};
  stream.placement.begin(32 * kMiB);
  stream.run(512 * kMiB);
  EXPECT_FALSE(stream.link.takes);
  EXPECT_FALSE(stream.link.open);
  stream.expect_all_read();
  EXPECT_EQ(stream.news, 1U);
}

TEST(bulk_placement, the_kernel_faster__kept_and_told_once) {
  Stream stream{6000, 5000};
  stream.placement.begin(32 * kMiB);
  stream.run(4096 * kMiB);
  EXPECT_TRUE(stream.link.takes);
  stream.expect_all_read();
  EXPECT_EQ(stream.news, 1U);
}

TEST(bulk_placement, frames_in_bursts_larger_than_a_turn__in_order) {
  for (const unsigned frames : {1U, 63U, 64U, 65U, 128U, 3000U}) {
    Stream stream{5000, 6000, frames};
    stream.placement.begin(4 * kMiB);
    stream.run(2048 * kMiB);
    stream.expect_all_read();
  }
}

// Otherwise a ring that is never empty would keep the bulk path's frames indefinitely.
TEST(bulk_placement, a_ring_that_is_never_empty__the_bulk_path_is_read_all_the_same) {
  Stream stream{5000, 5000};
  stream.link.ring.assign(1, 0);
  stream.link.next = 1;
  for (unsigned i = 0; i < 100; i++) {
    stream.placement.choose(stream.link, 0, 0);
    stream.placement.receive(stream.link, stream.handler, kBudget, false);
  }
  stream.link.due = 1;
  stream.link.arrive(3);
  EXPECT_EQ(stream.placement.receive(stream.link, stream.handler, kBudget, false), 3U);
}

TEST(bulk_placement, no_socket_to_be_had__the_ring_without_a_word_and_later_asked_again) {
  Stream stream{5000, 5000};
  stream.placement.begin(32 * kMiB);
  stream.link.refuses = true;
  stream.run(512 * kMiB);
  EXPECT_FALSE(stream.placement.trial().by_kernel());
  EXPECT_EQ(stream.link.expected, 1U);
  EXPECT_EQ(stream.news, 0U);
  stream.link.refuses = false;
  stream.run(2048 * kMiB);
  EXPECT_TRUE(stream.link.takes);
  EXPECT_EQ(stream.news, 1U);
  stream.expect_all_read();
}

// One of the two ways must take the frames.
TEST(bulk_placement, a_bulk_path_that_cannot_be_forgone__goes_on_being_read) {
  Stream stream{5000, 6000};
  stream.placement.begin(32 * kMiB);
  while (!stream.link.takes && stream.bytes < 512 * kMiB) stream.run(kMiB);
  stream.link.sticks = true;
  stream.run(512 * kMiB);
  EXPECT_TRUE(stream.link.takes);
  EXPECT_EQ(stream.news, 0U) << "only one way was seen";
  stream.expect_all_read();
  stream.link.sticks = false;
  stream.run(1024 * kMiB);
  EXPECT_FALSE(stream.link.open);
  EXPECT_EQ(stream.news, 1U);
  stream.expect_all_read();
}

// The link gave the bulk path up by itself (no memory for larger frames).
TEST(bulk_placement, a_bulk_path_that_ends_by_itself__read_to_its_end) {
  Stream stream{5000, 5000};
  stream.run(8 * kMiB);
  ASSERT_TRUE(stream.link.takes);
  stream.link.arrive(500);
  stream.link.takes = false;
  stream.link.refuses = true;
  stream.turn(0);
  EXPECT_TRUE(stream.link.bulk.empty());
  stream.link.refuses = false;
  stream.run(8 * kMiB);
  EXPECT_TRUE(stream.link.takes) << "another one was to be had";
  stream.expect_all_read();
}

// The bulk path ends in the very turn after it was opened, when the ring still has frames from before.
TEST(bulk_placement, a_bulk_path_that_ends_at_once__read_before_the_ring_has_more) {
  Stream stream{5000, 5000};
  stream.turn(500);
  ASSERT_TRUE(stream.link.takes);
  stream.link.take(stream.link.ring, 500);
  stream.link.arrive(100);
  stream.link.takes = false;
  stream.link.refuses = true;
  stream.placement.choose(stream.link, 0, 0);
  stream.link.arrive(100);
  stream.placement.receive(stream.link, stream.handler, kBudget, false);
  EXPECT_TRUE(stream.link.bulk.empty());
  stream.expect_all_read();
}

}  // namespace
}  // namespace omx::runtime
