// SPDX-License-Identifier: BSD-3-Clause
// Tells a link the places of the data of the next frames.
#include <set>

#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class PullExpect : public PairTest {
 protected:
  std::vector<ExpectedFrame> expected(Host& host, std::size_t most = 1024) {
    std::vector<ExpectedFrame> places(most);
    places.resize(host->expected_replies(places));
    return places;
  }
  // Starts a message of 300 KB to b, whose first replies have not come.
  void begin() {
    in_ = &room(300'000);
    receive_ = receive(*b, *in_, 1);
    network.faults.drop = drop_all(wire::PacketType::pull_reply);
    (void)send(*a, to_b, message(300'000, 5), 1);
    network.run_until([&] { return !expected(*b).empty(); }, kSecond);
  }
  Bytes* in_ = nullptr;
  Request* receive_ = nullptr;
};

TEST_F(PullExpect, one_behind_the_other_from_the_first_byte) {
  open();
  begin();
  const auto places = expected(*b);
  ASSERT_GT(places.size(), 10U);
  std::byte* next = in_->data();
  for (const ExpectedFrame& place : places) {
    EXPECT_EQ(place.place, next);
    next += place.length;
  }
  EXPECT_EQ(expected(*b, 3).size(), 3U);
  EXPECT_TRUE(expected(*a).empty());
}

// A block that was requested twice must be offered once. Data of another frame, received there the second
// time, would damage correct data (found by simulation).
TEST_F(PullExpect, asked_again__no_place_twice) {
  open();
  begin();
  network.run_for(200 * kMillisecond);
  ASSERT_GT(b->counters[Counter::pull_rerequest_timer], 0U);
  std::set<std::byte*> seen;
  for (const ExpectedFrame& place : expected(*b)) EXPECT_TRUE(seen.insert(place.place).second);
  network.faults.drop = nullptr;
  EXPECT_EQ(wait(*b, receive_).status, Status::success);
  EXPECT_EQ(*in_, pattern(5, 300'000));
  EXPECT_TRUE(expected(*b).empty());
}

TEST_F(PullExpect, none_with_checksums) {
  Config config;
  config.checksum = true;
  open(config, config);
  in_ = &room(300'000);
  (void)receive(*b, *in_, 1);
  network.faults.drop = drop_all(wire::PacketType::pull_reply);
  (void)send(*a, to_b, message(300'000), 1);
  network.run_for(kMillisecond);
  EXPECT_GT(b->counters[Counter::send_pull_request], 0U);
  EXPECT_TRUE(expected(*b).empty());
}

TEST_F(PullExpect, none_of_several_senders) {
  open();
  begin();
  Host& c = network.add({});
  Peer* from_c = connect(network, c, *b);
  (void)receive(*b, room(300'000), 2);
  (void)send(c, from_c, message(300'000), 2);
  network.run_for(kMillisecond);
  EXPECT_TRUE(expected(*b).empty());
}

TEST_F(PullExpect, pieces__none_beyond_what_lies_in_one) {
  open();
  Bytes& memory = room(300'000);
  const Segment pieces[] = {{memory.data(), 10'000}, {memory.data() + 10'000, 290'000}};
  ReceiveOp op;
  op.segments = pieces;
  op.match_info = 1;
  (void)(*b)->receive(network.now, op).value();
  network.faults.drop = drop_all(wire::PacketType::pull_reply);
  (void)send(*a, to_b, message(300'000), 1);
  network.run_for(kMillisecond);
  const auto places = expected(*b);
  EXPECT_FALSE(places.empty());
  for (const ExpectedFrame& place : places) EXPECT_LE(place.place + place.length, memory.data() + 10'000);
}

TEST_F(PullExpect, is_reply__only_the_very_frame) {
  open();
  begin();
  const auto places = expected(*b, 2);
  wire::PullReply reply;
  reply.magic = wire::kPullMagic;
  reply.pull_handle = places[1].handle;
  reply.frame_seqnum = static_cast<std::uint8_t>(places[1].index);
  reply.msg_offset = static_cast<std::uint32_t>(places[1].place - in_->data());
  reply.frame_length = static_cast<std::uint16_t>(places[1].length);
  const auto frame = [&](const wire::PullReply& packet, NicId from) {
    return hand_made(
        from, (*b)->config().nic, wire::PacketType::pull_reply,
        [&](std::byte* out, wire::Head head) {
          head.peer_index = 0;
          return encode_pull_reply(out, head, packet);
        },
        Bytes(packet.frame_length));
  };
  const NicId a_nic = (*a)->config().nic;
  EXPECT_TRUE((*b)->is_expected(places[1], frame(reply, a_nic)));
  EXPECT_FALSE((*b)->is_expected(places[0], frame(reply, a_nic)));
  EXPECT_FALSE((*b)->is_expected(places[1], frame(reply, a_nic + 1)));
  for (int wrong = 0; wrong < 5; wrong++) {
    wire::PullReply other = reply;
    if (wrong == 0) other.magic ^= 1;
    if (wrong == 1) other.pull_handle ^= 1;
    if (wrong == 2) other.frame_seqnum++;
    if (wrong == 3) other.msg_offset += 8;
    if (wrong == 4) other.frame_length--;
    EXPECT_FALSE((*b)->is_expected(places[1], frame(other, a_nic))) << wrong;
  }
}

}  // namespace
}  // namespace omx::protocol::test
