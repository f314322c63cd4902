// SPDX-License-Identifier: BSD-3-Clause
// GSO frames: large messages by the bulk path in frames of up to 64 KiB, which come whole or not at all.
#include "protocol/state/bulk_trust.h"
#include "tests/protocol/bulk_fixture.h"

namespace omx::protocol::test {
namespace {

class GsoFrameTest : public BulkTest {
 protected:
  void open_with_gso_frames(bool both = true) {
    Config first = with_bulk(1), second = with_bulk(2);
    first.bulk.gso_frames = true;
    second.bulk.gso_frames = both;
    open(first, second);
    make_known();
  }
};

TEST(GsoFrameUnit, divides_the_message_evenly) {
  constexpr std::uint32_t kHeader = 32, kDatagram = 1472;
  EXPECT_EQ(wire::gso_frame_unit(kDatagram - kHeader, kHeader, kDatagram), 0U) << "one datagram holds it";
  EXPECT_EQ(wire::gso_frame_unit(65472, kHeader, kDatagram), 65472U);
  EXPECT_EQ(wire::gso_frame_unit(65473, kHeader, kDatagram), 32768U);
  EXPECT_EQ(wire::gso_frame_unit(98304, kHeader, kDatagram), 49152U);
  for (std::uint32_t length = 2000; length < 300000; length += 777) {
    const std::uint32_t unit = wire::gso_frame_unit(length, kHeader, kDatagram);
    EXPECT_LE(unit + kHeader, wire::kGsoBatchBytes);
    EXPECT_EQ((length + unit - 1) / unit, (length + 65471) / 65472) << length;
  }
  EXPECT_EQ(wire::gso_frame_unit(0xFFFFFFFF, kHeader, kDatagram), 65472U) << "the longest message";
  EXPECT_EQ(wire::gso_frame_unit(100000, kHeader, 300), 16672U) << "64 datagrams at most";
}

TEST_F(GsoFrameTest, a_large_message_comes_in_few_frames) {
  open_with_gso_frames();
  const auto replies = b->counters[Counter::recv_pull_reply];
  const auto whole = a->gso_frames;
  exchange(*a, to_b, *b, 1000000);
  EXPECT_EQ(b->counters[Counter::recv_pull_reply] - replies, 16U);
  EXPECT_EQ(a->gso_frames - whole, 16U);
  EXPECT_EQ(b->counters[Counter::gso_frames_cut], 0U);
}

TEST_F(GsoFrameTest, unscheduled_data_come_so_after_the_first) {
  open_with_gso_frames();
  exchange(*a, to_b, *b, 100000);
  const auto asked = b->counters[Counter::send_pull_request];
  const auto whole = a->gso_frames;
  const auto unscheduled = a->counters[Counter::send_unscheduled];
  exchange(*a, to_b, *b, 100000);
  EXPECT_EQ(a->counters[Counter::send_unscheduled] - unscheduled, 1U);
  EXPECT_EQ(b->counters[Counter::send_pull_request] - asked, 1U) << "for the second half";
  EXPECT_EQ(a->gso_frames - whole, 2U);
}

TEST_F(GsoFrameTest, one_side_alone_sends_none) {
  open_with_gso_frames(false);
  exchange(*a, to_b, *b, 1000000);
  exchange(*b, to_a, *a, 1000000);
  EXPECT_EQ(a->gso_frames + b->gso_frames, 0U);
}

TEST_F(GsoFrameTest, a_cut_frame_is_asked_for_in_ordinary_frames) {
  open_with_gso_frames();
  network.faults.cut_gso_frames = true;
  const TimeNs began = network.now;
  exchange(*a, to_b, *b, 1000000);
  EXPECT_LT(network.now - began, 3 * kMillisecond) << "no timer was needed";
  EXPECT_EQ(b->counters[Counter::gso_frames_cut], 1U);
  EXPECT_TRUE(to_a->bulk.in) << "the bulk path works all the same";
  const auto tried = a->gso_frames;
  exchange(*a, to_b, *b, 1000000);
  EXPECT_EQ(a->gso_frames, tried) << "not tried again at once";
}

TEST_F(GsoFrameTest, they_are_tried_again_later) {
  open_with_gso_frames();
  network.faults.cut_gso_frames = true;
  exchange(*a, to_b, *b, 1000000);
  network.faults.cut_gso_frames = false;
  network.run_for(kSecond);
  const auto before = a->gso_frames;
  exchange(*a, to_b, *b, 1000000);
  EXPECT_EQ(a->gso_frames - before, 16U);
  EXPECT_EQ(b->counters[Counter::gso_frames_cut], 1U);
}

TEST_F(GsoFrameTest, frames_of_which_no_datagram_comes_are_given_up) {
  open_with_gso_frames();
  network.faults.drop = [](const std::vector<std::byte>& frame) { return frame.size() > 2000; };
  exchange(*a, to_b, *b, 1000000);
  EXPECT_EQ(b->counters[Counter::gso_frames_cut], 1U);
  EXPECT_TRUE(to_a->bulk.in);
}

TEST_F(GsoFrameTest, a_sender_that_gave_up_its_bulk_path_says_so) {
  open_with_gso_frames();
  exchange(*a, to_b, *b, 1000000);
  to_b->bulk.out = false;
  bulk_distrust((*a)->state(), *to_b, &BulkDistrust::out);
  const auto before = a->gso_frames;
  const TimeNs began = network.now;
  exchange(*a, to_b, *b, 1000000);
  EXPECT_LT(network.now - began, 3 * kMillisecond) << "no timer was needed";
  EXPECT_EQ(a->gso_frames, before);
}

TEST_F(GsoFrameTest, a_medium_message_is_one_and_an_announcement) {
  open_with_gso_frames();
  for (const std::size_t length : {4000U, 8000U, 20000U, 40000U, 65408U, 65409U, 65536U}) {
    const auto fragments = a->counters[Counter::send_medium_frag];
    const auto whole = a->gso_frames;
    const auto probes = a->counters[Counter::send_announcement];
    exchange(*a, to_b, *b, length);
    const bool fits = length <= 65408;
    EXPECT_EQ(a->counters[Counter::send_medium_frag] - fragments, fits ? 1U : 2U) << length;
    EXPECT_EQ(a->gso_frames - whole, 1U) << length;
    EXPECT_EQ(a->counters[Counter::send_announcement] - probes, fits ? 1U : 0U)
        << "else the rest announces it";
  }
  const auto whole = a->gso_frames;
  exchange(*a, to_b, *b, 2500);
  EXPECT_EQ(a->gso_frames, whole) << "two fragments gain nothing";
}

TEST_F(GsoFrameTest, medium_messages_in_a_row_wait_for_no_acknowledgement_timer) {
  open_with_gso_frames();
  constexpr std::size_t kMessages = 32, kLength = 65536;
  std::vector<Request*> receives, sends;
  for (std::size_t i = 0; i < kMessages; i++) receives.push_back(receive(*b, room(kLength), 5));
  const TimeNs began = network.now;
  for (std::size_t i = 0; i < kMessages; i++) sends.push_back(send(*a, to_b, message(kLength), 5));
  for (Request* r : receives) EXPECT_EQ(wait(*b, r).status, Status::success);
  // The sender's window holds a few of them: both sides must count alike what fills it.
  EXPECT_LT(network.now - began, a->endpoint->config().reliability.ack_delay_extended);
}

TEST_F(GsoFrameTest, a_cut_medium_message_is_sent_again_by_the_link) {
  open_with_gso_frames();
  network.faults.cut_gso_frames = true;
  exchange(*a, to_b, *b, 40000);
  EXPECT_EQ(a->counters[Counter::gso_frames_cut], 0U) << "one may be late or lost for another reason";
  exchange(*a, to_b, *b, 40000);
  EXPECT_EQ(a->counters[Counter::gso_frames_cut], 1U);
  EXPECT_TRUE(to_b->bulk.out) << "batches of frames arrive";
  const auto whole = a->gso_frames;
  const auto resends = a->counters[Counter::resend_timeout];
  exchange(*a, to_b, *b, 40000);
  EXPECT_EQ(a->gso_frames, whole) << "not tried again at once";
  EXPECT_EQ(a->counters[Counter::resend_timeout], resends);
}

TEST_F(GsoFrameTest, cut_medium_messages_in_a_row_leave_the_bulk_path_in_use) {
  open_with_gso_frames();
  network.faults.cut_gso_frames = true;
  std::vector<Request*> receives;
  for (std::uint64_t i = 0; i < 8; i++) {
    receives.push_back(receive(*b, room(30000), 100 + i));
    send(*a, to_b, message(30000), 100 + i);
  }
  for (Request* r : receives) EXPECT_EQ(wait(*b, r).status, Status::success);
  EXPECT_EQ(a->counters[Counter::gso_frames_cut], 1U);
  EXPECT_EQ(a->counters[Counter::bulk_fallback], 0U);
  EXPECT_TRUE(to_b->bulk.out);
}

TEST_F(GsoFrameTest, a_cut_frame_is_known_with_checksums_too) {
  Config first = with_bulk(1), second = with_bulk(2);
  for (Config* c : {&first, &second}) c->bulk.gso_frames = c->checksum = true;
  open(first, second);
  make_known();
  network.faults.cut_gso_frames = true;
  const TimeNs began = network.now;
  exchange(*a, to_b, *b, 1000000);
  EXPECT_LT(network.now - began, 3 * kMillisecond) << "no timer was needed";
  EXPECT_EQ(b->counters[Counter::gso_frames_cut], 1U);
  EXPECT_EQ(b->counters[Counter::drop_bad_checksum], 0U);
}

TEST_F(GsoFrameTest, several_senders_are_asked_for_small_blocks) {
  open_with_gso_frames();
  Config third = with_bulk(3);
  third.bulk.gso_frames = true;
  Host& c = network.add(third);
  Peer* const c_to_b = connect(network, c, *b);
  ASSERT_TRUE(c_to_b);
  exchange(c, c_to_b, *b, 50000);
  const auto whole = a->gso_frames + c.gso_frames;
  Bytes& first = message(2000000);
  Bytes& second = message(2000000);
  Bytes &one = room(2000000), &two = room(2000000);
  Request* const r1 = receive(*b, one, 5);
  Request* const r2 = receive(*b, two, 6);
  send(*a, to_b, first, 5);
  send(c, c_to_b, second, 6);
  EXPECT_EQ(wait(*b, r1).status, Status::success);
  EXPECT_EQ(wait(*b, r2).status, Status::success);
  EXPECT_EQ(one, first);
  EXPECT_EQ(two, second);
  EXPECT_LE(a->gso_frames + c.gso_frames - whole, 31U + 1U) << "the first message, and unscheduled data";
}

}  // namespace
}  // namespace omx::protocol::test
