// SPDX-License-Identifier: BSD-3-Clause
// A legacy peer behaves as the original library where that matters for numbers (docs/spec/protocol.md 3). It
// restarts its count when it first hears our session, and says so only in the reply.
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class LegacyTest : public PairTest {
 protected:
  static constexpr NicId kNic = 0x0600000000AA;
  static constexpr std::uint32_t kSession = 0x5151;

  void start(Config config = {}) {
    config.buffered_sends_max = 0;  // a send is done when it is acknowledged
    a = &network.add(config);
    network.faults.drop = [this](const Bytes& f) {
      if (mac_load(f.data()) == kNic) peer_frame(f);
      return false;
    };
    wire::Connect request;
    request.src_session = kSession;
    request.target_recv_seqnum_start = next_match;
    put(wire::PacketType::connect,
        [&](std::byte* out, const wire::Head& head) { return encode_connect(out, head, request); });
    network.run_for(kMillisecond / 2);
    to_b = (*a)->find_peer(kNic, 0);
    ASSERT_NE(to_b, nullptr);
  }

  template <class Encode>
  void put(wire::PacketType type, Encode encode) {
    network.inject(hand_made(kNic, (*a)->config().nic, type, encode));
  }

  // --- the peer ---
  void peer_frame(const Bytes& f) {
    if (type_of(f) == wire::PacketType::connect) {
      wire::Connect packet;
      ASSERT_EQ(wire::decode_connect(f, packet), wire::Drop::none);
      packet.is_reply ? peer_reply(packet) : peer_request(packet);
    } else if (type_of(f) == wire::PacketType::tiny) {
      wire::Eager packet;
      const std::byte* data;
      ASSERT_EQ(wire::decode_eager(f, false, packet, &data), wire::Drop::none);
      if (packet.seqnum != next_match) return;  // reordered, or a duplicate
      next_match = seq_add(next_match, 1);
      received.push_back(packet.match_info);
      if (acknowledges) peer_ack();
    }
  }
  void peer_request(const wire::Connect& packet) {
    requests++;
    if (deaf > 0) {
      deaf--;
      return;
    }
    if (back_session != packet.src_session) next_match = seq_session(next_match) | kSeqFirst;
    true_session = back_session = packet.src_session;
    wire::Connect reply;
    reply.is_reply = true;
    reply.src_session = packet.src_session;
    reply.key_or_target_session = kSession;
    reply.connect_seqnum = packet.connect_seqnum;
    reply.status = packet.key_or_target_session == key ? 0 : 11;
    reply.target_recv_seqnum_start = next_match;
    put(wire::PacketType::connect,
        [&](std::byte* out, const wire::Head& head) { return encode_connect(out, head, reply); });
  }
  void peer_reply(const wire::Connect& packet) { true_session = packet.key_or_target_session; }
  void peer_ack() {
    if (back_session == wire::kUnknownSession) return;  // otherwise it would name no session
    wire::Truc packet;
    packet.session = back_session;
    packet.seqnum = packet.send_seq = next_match;
    packet.acknum = ++acknum;
    put(wire::PacketType::truc,
        [&](std::byte* out, const wire::Head& head) { return encode_truc(out, head, packet); });
  }
  // Sends a message of the peer, which carries an acknowledgement.
  void peer_send(std::uint16_t seqnum) {
    wire::Eager packet;
    packet.seqnum = seqnum;
    packet.piggyack = next_match;
    packet.session = true_session;
    packet.match_info = 99;
    put(wire::PacketType::tiny,
        [&](std::byte* out, const wire::Head& head) { return encode_eager(out, head, packet); });
  }

  Request* connect_again() { return (*a)->connect(network.now, kNic, 0, key, 0, nullptr, false).value(); }

  std::uint16_t next_match = kSeqFirst;
  std::uint32_t true_session = wire::kUnknownSession, back_session = wire::kUnknownSession;
  std::uint32_t key = 0, acknum = 0;
  int requests = 0;
  int deaf = 0;  // CONNECT requests that are lost
  bool acknowledges = true;
  std::vector<std::uint64_t> received;
};

TEST_F(LegacyTest, connected_one_way__is_connected_back_once) {
  start();
  EXPECT_EQ(requests, 1);
  EXPECT_EQ(back_session, (*a)->config().session);
  network.run_for(100 * kSecond);
  EXPECT_EQ(requests, 1);
}

TEST_F(LegacyTest, connected_one_way__nothing_is_repeated_while_nothing_waits) {
  deaf = 1000;
  start();
  network.run_for(100 * kSecond);
  EXPECT_EQ(requests, 1) << "an unknown peer must not make us send indefinitely";
}

TEST_F(LegacyTest, connected_one_way__pings_do_not_lose_numbers) {
  start();
  EXPECT_EQ(wait(*a, send(*a, to_b, message(8), 1)).status, Status::success);
  acknowledges = false;  // its application computes
  Request* second = send(*a, to_b, message(8), 2);
  network.run_for(5 * kSecond);
  EXPECT_GT(requests, 1) << "it was asked whether it lives";
  acknowledges = true;
  peer_ack();
  EXPECT_EQ(wait(*a, second, kSecond).status, Status::success);
  EXPECT_EQ(wait(*a, send(*a, to_b, message(8), 3), kSecond).status, Status::success);
  EXPECT_EQ(received, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(LegacyTest, connected_one_way__numbers_wait_until_the_count_begins) {
  for (const std::uint32_t its_key : {0U, 5U}) {  // even a wrong key starts the count
    network.clear();
    next_match = kSeqFirst;
    back_session = wire::kUnknownSession;
    received.clear();
    key = its_key;
    deaf = 3;
    start();
    Request* first = send(*a, to_b, message(8), 1);
    for (std::uint16_t i = 0; i < 20; i++) {  // it sends meanwhile
      peer_send(static_cast<std::uint16_t>(kSeqFirst + i));
      network.run_for(100 * kMillisecond);
    }
    EXPECT_EQ(wait(*a, first, 5 * kSecond).status, Status::success);
    EXPECT_EQ(wait(*a, send(*a, to_b, message(8), 2), kSecond).status, Status::success);
    EXPECT_EQ(received, (std::vector<std::uint64_t>{1, 2}));
  }
}

TEST_F(LegacyTest, connected_one_way__other_first_number_than_its_request_said) {
  next_match = 0x70F1;  // as after it gave up another endpoint here: its reply says 0x4001
  deaf = 1;
  start();
  Request* waits = send(*a, to_b, message(8), 1);
  EXPECT_EQ(wait(*a, waits, kSecond).status, Status::success);
  EXPECT_EQ(to_b->counting.next_send, 0x4002);
}

TEST_F(LegacyTest, connected_one_way__never_answers_a_connect_though_it_talks) {
  Config config;
  config.reliability.peer_timeout = 5 * kSecond;
  deaf = 1000;
  start(config);
  Request* first = send(*a, to_b, message(8), 1);
  for (std::uint16_t i = 0; i < 80 && !(*a)->done(first); i++) {
    peer_send(static_cast<std::uint16_t>(kSeqFirst + i));
    network.run_for(100 * kMillisecond);
  }
  ASSERT_TRUE((*a)->done(first));
  EXPECT_EQ((*a)->consume(first).status, Status::endpoint_unreachable);
  EXPECT_LT(requests, 20);
}

TEST_F(LegacyTest, count_begun_again__is_noticed_by_a_ping) {
  start();
  for (std::uint64_t i = 0; i < 10; i++)
    EXPECT_EQ(wait(*a, send(*a, to_b, message(8), i)).status, Status::success);
  back_session = wire::kUnknownSession;  // it forgets us, and restarts its count when asked
  acknowledges = false;
  next_match = 0x3000;
  Request* lost = send(*a, to_b, message(8), 10);
  EXPECT_EQ(wait(*a, lost, 10 * kSecond).status, Status::endpoint_unreachable);
  acknowledges = true;
  EXPECT_EQ(wait(*a, send(*a, to_b, message(8), 11), kSecond).status, Status::success);
  EXPECT_EQ(received.back(), 11U);
}

TEST_F(LegacyTest, count_begun_again__before_our_first_answer__leaves_nothing_of_the_old_one) {
  deaf = 1;  // the peer never hears that it was connected back to
  start();
  peer_send(seq_add(kSeqFirst, 2));
  network.run_for(kMillisecond);
  ASSERT_NE(to_b->rx.reorder, nullptr);
  next_match = 0x70F1;  // it gives us up
  Request* again = connect_again();
  EXPECT_EQ(wait(*a, again).status, Status::success);
  EXPECT_EQ(to_b->rx.reorder, nullptr);
  EXPECT_EQ((*a)->state().memory.reorder_buffers.live(), 0U);
  EXPECT_EQ(wait(*a, send(*a, to_b, message(8), 1), kSecond).status, Status::success);
}

TEST_F(LegacyTest, count_begun_again__before_our_first_answer__its_first_message_is_no_repetition) {
  deaf = 1;
  start();
  Request* old_one = receive(*a, room(8), 99);
  Request* new_one = receive(*a, room(8), 99);
  peer_send(kSeqFirst);  // arrives after our request leaves, and before the answer to it
  next_match = 0x70F1;
  Request* again = connect_again();
  EXPECT_EQ(wait(*a, again).status, Status::success);
  EXPECT_TRUE((*a)->done(old_one));
  EXPECT_FALSE((*a)->done(new_one));
  peer_send(kSeqFirst);
  network.run_for(kMillisecond);
  EXPECT_TRUE((*a)->done(new_one));
}

}  // namespace
}  // namespace omx::protocol::test
