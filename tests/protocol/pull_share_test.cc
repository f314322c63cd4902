// SPDX-License-Identifier: BSD-3-Clause
// Large messages inside a host that both ends copy (pull_share.cc): whatever part comes by frames and
// whatever part is read, the message is whole.
#include "protocol/direct.h"
#include "protocol/state/share_pace.h"
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

// Reads the memory of one sender, as long as it may.
class Reader final : public DirectReader {
 public:
  IntraNodePath path(NicId, std::uint8_t) const override { return {16'448, 6, 10'000}; }
  bool awake(NicId, std::uint8_t) const override { return sender_awake; }
  bool read(NicId, std::uint8_t, std::uint8_t region, std::uint8_t generation, std::uint64_t offset,
            std::span<const Segment> to, std::uint64_t length) override {
    if (reads == reads_most || !sender) return false;
    reads++;
    const auto from = (*sender)->region(region, generation).pieces;
    if (to.size() != 1 || from.size() != 1 || offset + length > from[0].length) return false;
    std::memcpy(to[0].base, from[0].base + offset, length);
    return true;
  }
  Host* sender = nullptr;
  bool sender_awake = true;
  int reads = 0, reads_most = -1;
};

class PullShare : public PairTest {
 protected:
  void SetUp() override {
    network.intra_node_frame = 16'448;
    Config of_a, of_b;
    of_a.direct = &reader_a;
    of_b.direct = &reader_b;
    open(of_a, of_b);
    reader_b.sender = a;
  }

  // Posts a receive and the send. Returns when the announcement has arrived.
  void begin(std::size_t length, std::size_t room_bytes) {
    out = &message(length, length);
    in = &room(room_bytes);
    r = receive(*b, *in, 1);
    s = send(*a, to_b, *out, 1);
    ASSERT_TRUE(network.run_until([&] { return (*b)->sharing(); }, kSecond));
    (*b)->share_begin(network.now);
  }
  void read_all() {
    while ((*b)->sharing()) (*b)->share_step(network.now);
  }
  void expect_whole(Status status = Status::success) {
    const Completion c = wait(*b, r, kSecond);
    EXPECT_EQ(c.status, status);
    EXPECT_EQ(c.xfer_length, std::min(in->size(), out->size()));
    EXPECT_EQ(wait(*a, s, kSecond).status, status);
    EXPECT_TRUE(std::equal(in->begin(), in->begin() + c.xfer_length, out->begin()));
    network.run_for(kSecond);  // late frames must do no harm
    EXPECT_TRUE(std::equal(in->begin(), in->begin() + c.xfer_length, out->begin()));
    EXPECT_FALSE((*b)->pulls_running());
    EXPECT_TRUE((*a)->drained());
  }

  Reader reader_a, reader_b;
  Bytes* out = nullptr;
  Bytes* in = nullptr;
  Request* r = nullptr;
  Request* s = nullptr;
};

TEST_F(PullShare, sender_copies__nothing_is_read) {
  begin(1'000'000, 1'000'000);
  expect_whole();
  EXPECT_EQ(reader_b.reads, 0);
}

TEST_F(PullShare, sender_is_busy__all_is_read) {
  begin(1'000'000, 1'000'000);
  a->paused = true;
  read_all();
  EXPECT_TRUE((*b)->done(r)) << "without a frame of the sender";
  EXPECT_EQ(b->counters[Counter::recv_pull_reply], 0U);
  a->paused = false;
  expect_whole();
}

// Both ends receive at once: each reads its own message.
TEST_F(PullShare, sender_receives_itself__does_not_answer) {
  reader_a.sender = b;
  std::vector<Bytes> asked;
  network.faults.drop = [&](const Bytes& frame) {
    const bool pull = type_of(frame) == wire::PacketType::pull;
    if (pull) asked.push_back(frame);
    return pull;
  };
  begin(1'000'000, 1'000'000);
  Bytes& other_in = room(1'000'000);
  Request* const other = receive(*a, other_in, 2);
  Bytes& other_out = message(1'000'000, 5);
  Request* const other_send = send(*b, to_a, other_out, 2);
  ASSERT_TRUE(network.run_until([&] { return (*a)->sharing(); }, kSecond));
  ASSERT_TRUE((*b)->sharing());
  network.faults.drop = nullptr;
  EXPECT_GE(asked.size(), 2U);
  for (Bytes& frame : asked) network.carry(std::move(frame));
  network.run_for(kMillisecond / 10);
  EXPECT_GE(a->counters[Counter::recv_pull_request], 1U);
  EXPECT_GE(b->counters[Counter::recv_pull_request], 1U);
  EXPECT_EQ(a->counters[Counter::recv_pull_reply] + b->counters[Counter::recv_pull_reply], 0U);
  read_all();
  while ((*a)->sharing()) (*a)->share_step(network.now);
  EXPECT_EQ(wait(*a, other).status, Status::success);
  EXPECT_EQ(wait(*b, other_send).status, Status::success);
  EXPECT_EQ(other_in, other_out);
  expect_whole();
}

TEST_F(PullShare, sender_sleeps__is_not_asked) {
  reader_b.sender_awake = false;
  exchange(*a, to_b, *b, 1'000'000);
  EXPECT_EQ(b->counters[Counter::send_pull_request], 0U);
  EXPECT_EQ(reader_b.reads, 1);
}

TEST_F(PullShare, longer_than_its_receive__is_truncated) {
  begin(1'000'000, 300'000);
  read_all();
  expect_whole(Status::truncated);
}

TEST_F(PullShare, odd_lengths__both_ends_meet_anywhere) {
  Random random(3);
  for (int i = 0; i < 200; i++) {
    const std::size_t length = 33'000 + random.below(800'000);
    SCOPED_TRACE(length);
    begin(length, length);
    while ((*b)->sharing()) {
      if (random.chance(0.4))
        (*b)->share_step(network.now);
      else
        network.run_for(random.below(20'000));
    }
    expect_whole();
  }
  EXPECT_GT(reader_b.reads, 200);
  EXPECT_GT(b->counters[Counter::recv_pull_reply], 200U);
}

TEST_F(PullShare, memory_becomes_unreadable__comes_by_frames) {
  for (int most = 0; most < 20; most++) {
    SCOPED_TRACE(most);
    reader_b.reads = 0;
    reader_b.reads_most = most;
    begin(1'000'000, 1'000'000);
    a->paused = true;
    read_all();
    a->paused = false;
    expect_whole();
  }
}

TEST_F(PullShare, several_at_once) {
  std::vector<std::pair<Request*, Request*>> all;
  std::vector<std::pair<Bytes*, Bytes*>> data;
  for (std::uint64_t i = 0; i < 8; i++) {
    data.emplace_back(&message(200'000 + 1000 * i, i), &room(200'000 + 1000 * i));
    Request* const posted = receive(*b, *data.back().second, i);
    all.emplace_back(posted, send(*a, to_b, *data.back().first, i));
  }
  for (int i = 0; i < 2000; i++) {
    if ((*b)->sharing()) (*b)->share_step(network.now);
    network.run_for(3'000);
  }
  for (const auto& [got, sent] : all) {
    EXPECT_EQ(wait(*b, got, kSecond).status, Status::success);
    EXPECT_EQ(wait(*a, sent, kSecond).status, Status::success);
  }
  for (const auto& [from, to] : data) EXPECT_EQ(*from, *to);
}

TEST_F(PullShare, sender_is_gone__the_receive_fails) {
  begin(1'000'000, 1'000'000);
  (*b)->share_step(network.now);
  reader_b.sender = nullptr;
  (*b)->peer_gone(network.now, (*a)->config().nic, (*a)->config().endpoint);
  EXPECT_FALSE((*b)->sharing());
  EXPECT_EQ(wait(*b, r).status, Status::endpoint_closed);
}

TEST(SharePace, takes_the_faster_way_and_tries_the_other) {
  for (const bool shared_is_faster : {false, true}) {
    SharePace pace;
    int shared = 0;
    for (int i = 0; i < 2000; i++) {
      const bool way = pace.choose();
      shared += way;
      pace.measured(way, way == shared_is_faster ? 10'000 : 20'000, 65536);
    }
    if (shared_is_faster)
      EXPECT_GT(shared, 1850);
    else
      EXPECT_LT(shared, 150);
    EXPECT_TRUE(shared > 3 && shared < 1997) << "the other way is tried, too";
  }
}

TEST(SharePace, follows_what_the_sender_does) {
  SharePace pace;
  for (int phase = 0; phase < 6; phase++) {
    int good = 0;
    for (int i = 0; i < 3000; i++) {
      const bool way = pace.choose();
      const bool fast = way == (phase % 2 == 1);
      good += fast;
      pace.measured(way, fast ? 10'000 : 20'000, 65536);
    }
    EXPECT_GT(good, 2500) << phase;
  }
}

}  // namespace
}  // namespace omx::protocol::test
