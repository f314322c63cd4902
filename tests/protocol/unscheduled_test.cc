// SPDX-License-Identifier: BSD-3-Clause
// Unscheduled data: the first frames of a large message, sent before the receiver asks
// (docs/reference/wire.md 17).
#include "base/bytes.h"
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

constexpr std::size_t kShort = 60000, kLong = 400'000;

Config jumbo(std::uint32_t unscheduled_bytes = 65536) {
  Config config;
  config.mtu = 9000;
  config.unscheduled_bytes = unscheduled_bytes;
  return config;
}

class UnscheduledTest : public PairTest {
 protected:
  void open_jumbo() {
    open(jumbo(), jumbo());
    network.run_for(10 * kMillisecond);  // large frames are proven
  }
  std::uint64_t requests() const { return b->counters[Counter::send_pull_request]; }
  std::uint64_t unscheduled() const { return a->counters[Counter::send_unscheduled]; }
  // Sends one message alone. Returns whether its data went unscheduled.
  bool goes_unscheduled(std::size_t length) {
    const auto before = unscheduled();
    exchange(*a, to_b, *b, length);
    return unscheduled() > before;
  }
};

TEST_F(UnscheduledTest, first_message_asks__next_one_does_not) {
  open_jumbo();
  EXPECT_FALSE(goes_unscheduled(kShort));
  const auto before = requests();
  EXPECT_TRUE(goes_unscheduled(kShort));
  EXPECT_EQ(requests(), before) << "all of it came by itself";
  EXPECT_EQ(b->counters[Counter::recv_unscheduled], 1U);
  EXPECT_EQ(a->counters[Counter::send_pull_reply], b->counters[Counter::recv_pull_reply]);
  EXPECT_EQ(b->counters[Counter::drop_pull_reply_bad_handle], 0U);
}

TEST_F(UnscheduledTest, first_message_asks__so_one_that_is_whole_takes_a_way_less) {
  open_jumbo();
  const auto duration = [&] {
    const TimeNs began = network.now;
    Request* r = receive(*b, room(kShort), 1);
    (void)send(*a, to_b, message(kShort), 1);
    wait(*b, r);
    const TimeNs took = network.now - began;
    network.run_for(kMillisecond);
    return took;
  };
  const TimeNs asked = duration(), unscheduled = duration();
  EXPECT_LT(unscheduled, asked);
}

TEST_F(UnscheduledTest, rest_of_a_longer_one_is_asked_for) {
  open_jumbo();
  exchange(*a, to_b, *b, kLong);
  EXPECT_TRUE(goes_unscheduled(kLong));
  EXPECT_GT(requests(), 0U);
  EXPECT_EQ(a->counters[Counter::send_pull_reply], b->counters[Counter::recv_pull_reply]);
  EXPECT_EQ(b->counters[Counter::drop_pull_reply_duplicate], 0U);
}

TEST_F(UnscheduledTest, both_ways_and_every_length) {
  open_jumbo();
  for (std::size_t length = 32769; length < 300'000; length += 7177) {
    exchange(*a, to_b, *b, length);
    exchange(*b, to_a, *a, length);
  }
  EXPECT_GT(unscheduled(), 10U);
}

TEST_F(UnscheduledTest, leave_ends__when_it_is_old) {
  open_jumbo();
  exchange(*a, to_b, *b, kShort);
  network.run_for(50 * kMillisecond);
  EXPECT_FALSE(goes_unscheduled(kShort));
  EXPECT_TRUE(goes_unscheduled(kShort));
}

TEST_F(UnscheduledTest, none_where_it_is_not_wanted) {
  open(jumbo(0), jumbo());
  network.run_for(10 * kMillisecond);
  for (int i = 0; i < 4; i++) EXPECT_FALSE(goes_unscheduled(kShort));
  to_a->agreed.features = 0xFFFF;  // the other direction goes to a peer without the feature
  to_a->agreed.features &= static_cast<std::uint16_t>(~wire::kFeatureUnscheduled);
  for (int i = 0; i < 4; i++) exchange(*b, to_a, *a, kShort);
  EXPECT_EQ(b->counters[Counter::send_unscheduled], 0U);
}

// Data for which no receive was posted are lost, so the next message waits for its PULL. A sender whose data
// are often lost tries less and less often.
TEST_F(UnscheduledTest, unexpected__later_whole_and_then_asked_for) {
  open_jumbo();
  exchange(*a, to_b, *b, kShort);
  const auto early = [&] {
    Bytes& out = message(kShort, 3);
    Request* s = send(*a, to_b, out, 9);
    network.run_until([&] { return (*b)->probe(9, ~0ULL, nullptr).has_value(); }, kSecond);
    network.run_for(100'000);
    Bytes& in = room(kShort);
    const TimeNs began = network.now;
    EXPECT_EQ(wait(*b, receive(*b, in, 9)).status, Status::success);
    EXPECT_LT(network.now - began, kMillisecond) << "no timer was needed";
    EXPECT_EQ(wait(*a, s).status, Status::success);
    EXPECT_EQ(in, out);
  };
  early();
  EXPECT_EQ(unscheduled(), 1U);
  EXPECT_GT(b->counters[Counter::drop_pull_reply_bad_handle], 0U);
  for (int i = 0; i < 20; i++) {
    exchange(*a, to_b, *b, kShort);  // arrives in time, so the receiver gives leave
    early();
  }
  EXPECT_LT(unscheduled(), 12U);
}

TEST_F(UnscheduledTest, shorter_receive__truncated) {
  open_jumbo();
  exchange(*a, to_b, *b, kShort);
  Bytes& out = message(kShort, 4);
  Bytes& in = room(40000);
  Request* r = receive(*b, in, 2);
  Request* s = send(*a, to_b, out, 2);
  EXPECT_EQ(wait(*b, r).status, Status::truncated);
  EXPECT_EQ(wait(*a, s).status, Status::truncated);
  EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin()));
}

TEST_F(UnscheduledTest, lost__asked_for_and_no_leave_for_the_next) {
  open_jumbo();
  for (const std::size_t length : {kShort, kLong}) {
    network.faults.drop = nullptr;
    exchange(*a, to_b, *b, kShort);
    exchange(*a, to_b, *b, kShort);
    network.faults.drop = drop_next(wire::PacketType::pull_reply, 2);
    EXPECT_TRUE(goes_unscheduled(length));
    EXPECT_FALSE(goes_unscheduled(length));
  }
}

TEST_F(UnscheduledTest, rndv_lost__the_repeated_one_brings_none) {
  open_jumbo();
  exchange(*a, to_b, *b, kShort);
  network.faults.drop = drop_next(wire::PacketType::rndv, 1);
  EXPECT_TRUE(goes_unscheduled(kShort));
  EXPECT_EQ(b->counters[Counter::recv_unscheduled], 0U);
}

// The data overtake the RNDV. Data without a place are requested at once, not after a timer.
TEST_F(UnscheduledTest, data_before_the_rndv) {
  open_jumbo();
  exchange(*a, to_b, *b, kShort);
  Bytes held;
  network.faults.drop = [&](const Bytes& frame) {
    if (type_of(frame) != wire::PacketType::rndv || !held.empty()) return false;
    held = frame;
    return true;
  };
  Bytes& out = message(kShort, 6);
  Bytes& in = room(kShort);
  Request* r = receive(*b, in, 5);
  Request* s = send(*a, to_b, out, 5);
  network.run_for(100'000);
  EXPECT_GT(b->counters[Counter::drop_pull_reply_bad_handle], 0U);
  network.inject(held);
  EXPECT_EQ(wait(*b, r, kMillisecond).status, Status::success);
  EXPECT_EQ(wait(*a, s).status, Status::success);
  EXPECT_EQ(in, out);
  EXPECT_EQ(b->counters[Counter::pull_rerequest_timer], 0U);
}

TEST_F(UnscheduledTest, stream__two_messages_at_a_time) {
  open_jumbo();
  exchange(*a, to_b, *b, kShort);
  std::vector<Request*> receives;
  for (std::uint64_t i = 0; i < 10; i++) receives.push_back(receive(*b, room(kShort), 100 + i));
  const auto before = unscheduled();
  for (std::uint64_t i = 0; i < 10; i++) (void)send(*a, to_b, message(kShort, i), 100 + i);
  EXPECT_EQ(unscheduled() - before, 2U);
  for (Request* r : receives) EXPECT_EQ(wait(*b, r).status, Status::success);
}

TEST_F(UnscheduledTest, by_the_bulk_path) {
  open(with_bulk(1, 9000), with_bulk(2, 9000));
  for (int i = 0; i < 3; i++) exchange(*a, to_b, *b, 100'000);
  ASSERT_TRUE(to_b->bulk.out);
  const std::uint64_t bulk = a->bulk_frames, sent = a->counters[Counter::send_pull_reply];
  EXPECT_TRUE(goes_unscheduled(100'000));
  EXPECT_EQ(a->bulk_frames - bulk, a->counters[Counter::send_pull_reply] - sent) << "all of it";
}

TEST_F(UnscheduledTest, checksums) {
  Config config = jumbo();
  config.checksum = true;
  open(config, config);
  network.run_for(10 * kMillisecond);
  exchange(*a, to_b, *b, kLong);
  network.faults.corrupt = 0.01;
  for (int i = 0; i < 20; i++) exchange(*a, to_b, *b, kLong);
  EXPECT_GT(unscheduled(), 0U);
}

TEST_F(UnscheduledTest, faults__always_whole) {
  open_jumbo();
  network.faults.loss = network.faults.duplicate = 0.01;
  network.faults.reorder = 0.1;
  for (std::size_t i = 0; i < 300; i++) exchange(*a, to_b, *b, 33'000 + i * 401);
  EXPECT_GT(unscheduled(), 10U);
}

// At most three senders have leave: as much as the port of a small switch holds.
TEST_F(UnscheduledTest, several_senders__few_have_leave) {
  Host& receiver = network.add(jumbo());
  std::vector<Host*> senders;
  std::vector<Peer*> to;
  for (int i = 0; i < 8; i++) {
    senders.push_back(&network.add(jumbo()));
    to.push_back(connect(network, *senders.back(), receiver));
  }
  network.run_for(10 * kMillisecond);
  for (std::size_t i = 0; i < 8; i++) exchange(*senders[i], to[i], receiver, kShort);
  std::vector<Request*> receives;
  for (std::size_t i = 0; i < 8; i++) receives.push_back(receive(receiver, room(kShort), i));
  for (std::size_t i = 0; i < 8; i++) (void)send(*senders[i], to[i], message(kShort, i), i);
  std::uint64_t unscheduled = 0;
  for (Host* sender : senders) unscheduled += sender->counters[Counter::send_unscheduled];
  EXPECT_EQ(unscheduled, 3U);
  for (Request* r : receives) EXPECT_EQ(wait(receiver, r).status, Status::success);
}

// With more frames than a block holds, the receiver could not tell which are missing.
TEST_F(UnscheduledTest, announced_too_many) {
  open_jumbo();
  exchange(*a, to_b, *b, kShort);
  bool changed = false;
  network.faults.drop = [&](const Bytes& frame) {
    if (type_of(frame) != wire::PacketType::rndv || changed) return false;
    changed = true;
    Bytes other = frame;
    EXPECT_EQ(other.at(50), std::byte{7}) << "frames of 8,960 bytes";
    other[50] = std::byte{255};
    network.inject(other);
    return true;
  };
  EXPECT_TRUE(goes_unscheduled(3'000'000));
  EXPECT_TRUE(changed);
  EXPECT_EQ(b->counters[Counter::recv_unscheduled], 0U);
  EXPECT_GT(requests(), 10U);
}

// A sender that announces data and never sends them is asked for them.
TEST_F(UnscheduledTest, announced_and_not_sent) {
  open_jumbo();
  exchange(*a, to_b, *b, kShort);
  network.faults.drop = [&](const Bytes& frame) {
    return type_of(frame) == wire::PacketType::pull_reply && wire::unscheduled(load_be32(frame.data() + 28));
  };
  const TimeNs began = network.now;
  EXPECT_TRUE(goes_unscheduled(kShort));
  EXPECT_LT(network.now - began, 100 * kMillisecond);
  EXPECT_GT(b->counters[Counter::pull_rerequest_timer], 0U);
}

}  // namespace
}  // namespace omx::protocol::test
