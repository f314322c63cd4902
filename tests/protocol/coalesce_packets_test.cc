// SPDX-License-Identifier: BSD-3-Clause
// Packets without data in coalesced frames (docs/reference/wire.md 14).
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

constexpr std::size_t kLarge = 60'000;

class CoalescePacketsTest : public PairTest {
 protected:
  Request* announce(Bytes& data, std::uint64_t match) {
    Segment s = segment(data);
    SendOp op;
    op.peer = to_b;
    op.segments = {&s, 1};
    op.match_info = match;
    op.advice.hold_announcement = true;
    return (*a)->send(network.now, op).value();
  }
  // Sends `count` large messages, whose receives are posted.
  void stream(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; i++) {
      in_.push_back(&room(kLarge));
      received_.push_back(receive(*b, *in_.back(), i));
      out_.push_back(&message(kLarge, i + 1));
      sent_.push_back(announce(*out_.back(), i));
    }
  }
  void arrive() {
    for (std::size_t i = 0; i < sent_.size(); i++) {
      EXPECT_EQ(wait(*b, received_[i]).status, Status::success);
      EXPECT_EQ(wait(*a, sent_[i]).status, Status::success);
      EXPECT_EQ(*in_[i], *out_[i]);
    }
  }
  static std::uint64_t count(const Host& host, Counter id) { return host.counters[id]; }
  // Makes a PACK from a to b with one record of `flags` that announces `length` bytes.
  Bytes coalesce_of(std::uint8_t flags, const Bytes& data, std::size_t length) {
    Bytes records(12);
    records[8] = static_cast<std::byte>(length >> 8);
    records[9] = static_cast<std::byte>(length);
    records[10] = std::byte{flags};
    records.insert(records.end(), data.begin(), data.end());
    wire::Pack pack;
    pack.dst_endpoint = (*b)->config().endpoint;
    pack.src_endpoint = (*a)->config().endpoint;
    pack.session = (*b)->config().session;
    pack.length = static_cast<std::uint16_t>(records.size());
    return hand_made((*a)->config().nic, (*b)->config().nic, wire::PacketType::pack,
                     [&](std::byte* to, const wire::Head& head) { return encode_pack(to, head, pack); },
                     records);
  }
  Bytes packet_of(const Bytes& frame) { return {frame.begin() + wire::kEthernetHeader, frame.end()}; }

  std::vector<Bytes*> in_, out_;
  std::vector<Request*> received_, sent_;
};

TEST_F(CoalescePacketsTest, announcements__wait_behind_others_until_released) {
  open();
  stream(8);
  EXPECT_EQ(count(*a, Counter::send_rndv), 8U);
  EXPECT_TRUE((*a)->held_any());
  EXPECT_FALSE((*a)->held_messages());
  network.run_for(kMillisecond);
  EXPECT_FALSE((*a)->held_any()) << "the next look sends them";
  EXPECT_EQ(count(*a, Counter::send_coalesced_packets), 1U);
  EXPECT_EQ(count(*b, Counter::recv_coalesced_packets), 1U);
  arrive();
}

TEST_F(CoalescePacketsTest, announcements__few_do_not_wait) {
  open();
  stream(4);
  EXPECT_FALSE((*a)->held_any());
  arrive();
}

TEST_F(CoalescePacketsTest, announcements__do_not_wait_unless_allowed) {
  open();
  for (std::uint64_t i = 0; i < 10; i++) (void)send(*a, to_b, message(kLarge), i);
  EXPECT_FALSE((*a)->held_any());
}

TEST_F(CoalescePacketsTest, announcements__so_many_do_not_wait_for_more) {
  open();
  stream(4 + 8);
  EXPECT_FALSE((*a)->held_any());
  EXPECT_EQ(count(*a, Counter::send_coalesced_packets), 1U);
  arrive();
}

TEST_F(CoalescePacketsTest, announcements__not_overtaken_by_later_messages) {
  open();
  stream(6);
  EXPECT_TRUE((*a)->held_any());
  (void)send(*a, to_b, message(20), 100);
  EXPECT_FALSE((*a)->held_any());
  arrive();
  EXPECT_EQ(count(*b, Counter::early), 0U);
}

TEST_F(CoalescePacketsTest, requests_and_reports__share_frames) {
  open();
  stream(40);
  arrive();
  EXPECT_GT(count(*b, Counter::send_coalesced_packets), 0U);
  EXPECT_EQ(count(*b, Counter::send_coalesced_packets), count(*a, Counter::recv_coalesced_packets));
  EXPECT_EQ(count(*b, Counter::send_notify), 40U);
  EXPECT_EQ(count(*a, Counter::resend_timeout) + count(*b, Counter::resend_timeout), 0U);
}

TEST_F(CoalescePacketsTest, requests_and_reports__not_to_who_does_not_read_them) {
  Config alone;
  alone.coalesce = false;
  open({}, alone);
  stream(40);
  arrive();
  EXPECT_EQ(count(*a, Counter::send_coalesced_packets) + count(*b, Counter::send_coalesced_packets), 0U);
}

TEST_F(CoalescePacketsTest, requests_and_reports__not_with_checksums) {
  Config checked;
  checked.checksum = true;
  open(checked, checked);
  stream(40);
  arrive();
  EXPECT_EQ(count(*a, Counter::send_coalesced_packets) + count(*b, Counter::send_coalesced_packets), 0U);
}

TEST_F(CoalescePacketsTest, loss__costs_repetitions_only) {
  open();
  network.faults.drop = drop_next(wire::PacketType::pack, 3);
  stream(40);
  arrive();
}

TEST_F(CoalescePacketsTest, announcements__a_lone_one_does_not_wait_for_old_ones) {
  open();
  for (std::uint64_t i = 0; i < 5; i++) (void)send(*a, to_b, message(kLarge), 1000 + i);  // stay unreceived
  network.run_for(kSecond);
  (void)announce(message(kLarge), 1);
  EXPECT_FALSE((*a)->held_any());
}

// A receiver that first read the frames of the message would request the rest later.
TEST_F(CoalescePacketsTest, requests__of_a_lone_message_are_known_as_such) {
  open();
  b->paused = true;
  stream(2);
  network.run_for(kMillisecond);
  const auto hear_next = [this] {
    b->hear(network.now, b->ring.front());
    b->ring.pop_front();
  };
  EXPECT_FALSE((*b)->held_question());
  ASSERT_EQ(b->ring.size(), 2U);
  hear_next();
  EXPECT_TRUE((*b)->held_question());
  (*b)->release(network.now);
  EXPECT_FALSE((*b)->held_question()) << "nothing waits";
  hear_next();
  EXPECT_FALSE((*b)->held_question()) << "two share a frame";
  (*b)->release(network.now);
  EXPECT_FALSE((*b)->held_question());
  b->paused = false;
  arrive();
}

// Acknowledgements that no packet of the frame carries are still owed.
TEST_F(CoalescePacketsTest, acknowledgements__of_short_messages_in_the_same_look) {
  open();
  for (std::uint64_t i = 0; i < 2; i++) {
    in_.push_back(&room(kLarge));
    received_.push_back(receive(*b, *in_.back(), i));
  }
  Bytes& small = room(16);
  Request* r = receive(*b, small, 100);
  b->paused = true;
  for (std::uint64_t i = 0; i < 2; i++) {
    out_.push_back(&message(kLarge, i + 1));
    sent_.push_back(send(*a, to_b, *out_.back(), i));
  }
  Request* sent = send(*a, to_b, message(16), 100);
  network.run_for(kMillisecond);
  b->paused = false;
  EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_EQ(wait(*a, sent).status, Status::success);
  arrive();
  network.run_for(kSecond);
  EXPECT_EQ(count(*a, Counter::resend_tail) + count(*a, Counter::resend_timeout), 0U);
  EXPECT_EQ(count(*b, Counter::duplicate), 0U);
}

TEST_F(CoalescePacketsTest, frames__are_no_longer_than_the_base) {
  Config narrow;
  narrow.mtu = 9000;
  narrow.base_frame = 1232;
  open(narrow, narrow);
  network.run_for(10 * kMillisecond);
  std::size_t longest = 0;
  network.faults.drop = [&](const Bytes& frame) {
    if (type_of(frame) == wire::PacketType::pack) longest = std::max(longest, frame.size());
    return false;
  };
  stream(40);
  arrive();
  EXPECT_GT(longest, 0U);
  EXPECT_LE(longest, 1232U);
}

TEST_F(CoalescePacketsTest, received__what_may_not_share_is_dropped) {
  open();
  wire::Eager tiny;
  tiny.dst_endpoint = (*b)->config().endpoint;
  tiny.src_endpoint = (*a)->config().endpoint;
  tiny.session = (*b)->config().session;
  const Bytes inner =
      hand_made((*a)->config().nic, (*b)->config().nic, wire::PacketType::tiny,
                [&](std::byte* to, const wire::Head& head) { return encode_eager(to, head, tiny); });
  const Bytes packet = packet_of(inner), pack = packet_of(coalesce_of(8, packet, packet.size()));
  const auto unknown = count(*b, Counter::drop_unknown_type), malformed = count(*b, Counter::drop_malformed);
  network.inject(coalesce_of(8, packet, packet.size()));
  network.inject(coalesce_of(8, pack, pack.size()));  // a PACK must not contain another
  network.run_for(kMillisecond);
  EXPECT_EQ(count(*b, Counter::drop_unknown_type), unknown + 2);
  for (const std::size_t said : {std::size_t{0}, std::size_t{17}, packet.size() + 1, std::size_t{257}}) {
    network.inject(coalesce_of(8, packet, said));
  }
  network.inject(coalesce_of(8, Bytes(300), 300));
  network.run_for(kMillisecond);
  EXPECT_EQ(count(*b, Counter::drop_malformed), malformed + 5);
  EXPECT_EQ(count(*b, Counter::recv_tiny), 0U);
  exchange_both_ways();
}

}  // namespace
}  // namespace omx::protocol::test
