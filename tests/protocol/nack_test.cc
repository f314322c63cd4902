// SPDX-License-Identifier: BSD-3-Clause
#include "tests/protocol/support.h"

namespace omx::protocol::test {
namespace {

class Nack : public PairTest {
 protected:
  // Sends one message from A to B, which hears nothing, so that it stays unacknowledged.
  Request* unacked() {
    Config config;
    config.buffered_sends_max = 0;
    open(config, config);
    b->paused = true;
    return send(*a, to_b, message(8), 1);
  }
  // Returns a connect request of A that B does not hear, as the network would send it back.
  Bytes unheard_connect(Request*& request) {
    Bytes sent;
    network.faults.drop = [&sent](const Bytes& frame) {
      if (type_of(frame) == wire::PacketType::connect) sent = frame;
      return true;
    };
    request = connect_start(*a, *b);
    EXPECT_TRUE(network.run_until([&] { return !sent.empty(); }));
    network.faults.drop = drop_all(wire::PacketType::connect);
    return sent;
  }
};

TEST_F(Nack, nack_lib__each_code) {
  const Status expected[] = {Status::bad_endpoint, Status::endpoint_closed, Status::bad_session,
                             Status::bad_rdma_window};
  for (int code = 1; code <= 4; code++) {
    network.clear();
    Request* s = unacked();
    network.inject(hand_made_nack_lib(*b, *a, to_b->counting.next_acked, code));
    EXPECT_EQ(wait(*a, s, kSecond).status, expected[code - 1]);
    EXPECT_FALSE(to_b->connected());
  }
}

TEST_F(Nack, nack_lib__unknown_codes_are_ignored) {
  Request* s = unacked();
  for (const int code : {0, 5, 6, 7, 100, 255})
    network.inject(hand_made_nack_lib(*b, *a, to_b->counting.next_acked, code));
  network.run_for(100 * kMillisecond);
  EXPECT_FALSE((*a)->done(s));
  b->paused = false;
  EXPECT_EQ(wait(*a, s).status, Status::success);
}

TEST_F(Nack, nack_lib__stale_or_for_another_number) {
  Request* s = unacked();
  network.inject(hand_made_nack_lib(*b, *a, seq_add(to_b->counting.next_acked, 1), 3));
  network.inject(hand_made_nack_lib(*b, *a, seq_add(to_b->counting.next_acked, kSeqMask), 3));
  network.inject(hand_made_nack_lib(*b, *a, seq_next_session(to_b->counting.next_acked), 3));
  network.inject(hand_made_nack_lib(*b, *a, 0, 2));  // refers to a connect that is over
  network.run_for(100 * kMillisecond);
  EXPECT_FALSE((*a)->done(s));
  b->paused = false;
  EXPECT_EQ(wait(*a, s).status, Status::success);
}

TEST_F(Nack, nack_lib__for_a_connect_ends_the_oldest) {
  a = &network.add({});
  b = &network.add({});
  b->paused = true;
  Request* first = connect_start(*a, *b);
  Request* second = connect_start(*a, *b);
  network.inject(hand_made_nack_lib(*b, *a, 0, 2));
  EXPECT_EQ(wait(*a, first, kSecond).status, Status::endpoint_closed);
  EXPECT_FALSE((*a)->done(second));
  network.inject(hand_made_nack_lib(*b, *a, 0, 1));
  EXPECT_EQ(wait(*a, second, kSecond).status, Status::bad_endpoint);
}

TEST_F(Nack, refused__ends_the_connect_that_it_quotes) {
  a = &network.add({});
  b = &network.add({});
  Request *first = nullptr, *second = nullptr;
  unheard_connect(first);
  const Bytes quoted = unheard_connect(second);
  EXPECT_TRUE((*a)->connect_refused(network.now, quoted));
  EXPECT_EQ(wait(*a, second, kSecond).status, Status::endpoint_closed);
  EXPECT_FALSE((*a)->connect_refused(network.now, quoted)) << "once";
  EXPECT_FALSE((*a)->done(first));
  EXPECT_EQ((*a)->silent_take(), nullptr) << "that is an answer";
  network.faults.drop = nullptr;
  EXPECT_EQ(wait(*a, first).status, Status::success);
}

TEST_F(Nack, refused__what_does_not_fit_changes_nothing) {
  a = &network.add({});
  b = &network.add({});
  Request* r = nullptr;
  const Bytes quoted = unheard_connect(r);
  wire::Connect packet;
  ASSERT_TRUE(is_connect(quoted, false, packet));
  const auto refused = [&](const wire::Connect& changed, NicId from, NicId to) {
    const Bytes frame =
        hand_made(from, to, wire::PacketType::connect,
                  [&](std::byte* out, const wire::Head& head) { return encode_connect(out, head, changed); });
    return (*a)->connect_refused(network.now, frame);
  };
  const NicId from = (*a)->config().nic, to = (*b)->config().nic;
  wire::Connect other = packet;
  other.src_session++;
  EXPECT_FALSE(refused(other, from, to)) << "who forges it does not know our session";
  other = packet;
  other.connect_seqnum++;
  EXPECT_FALSE(refused(other, from, to));
  other = packet;
  other.key_or_target_session++;
  EXPECT_FALSE(refused(other, from, to));
  other = packet;
  other.is_reply = true;
  EXPECT_FALSE(refused(other, from, to));
  other = packet;
  other.dst_endpoint++;
  EXPECT_FALSE(refused(other, from, to));
  EXPECT_FALSE(refused(packet, to, to));
  EXPECT_FALSE(refused(packet, from, from));
  for (std::size_t length = 0; length < quoted.size(); length++)
    EXPECT_FALSE((*a)->connect_refused(network.now, {quoted.data(), length})) << length;
  EXPECT_FALSE((*a)->done(r));
  EXPECT_TRUE(refused(packet, from, to));
}

// Any process that reads our connects can forge this refusal. It must not end a conversation, not even as the
// answer to a ping of a silent peer.
TEST_F(Nack, refused__a_ping_ends_nothing) {
  open();
  Request* s = send(*a, to_b, message(100000), 1);
  network.run_for(200 * kMillisecond);
  ASSERT_EQ(s->phase, Phase::await_notify);
  Bytes ping;
  network.faults.drop = [&ping](const Bytes& frame) {
    if (type_of(frame) == wire::PacketType::connect) ping = frame;
    return true;
  };
  ASSERT_TRUE(network.run_until([&] { return !ping.empty(); }));
  EXPECT_FALSE((*a)->connect_refused(network.now, ping));
  EXPECT_FALSE((*a)->done(s));
  EXPECT_TRUE(to_b->connected());
  network.faults.drop = nullptr;
  exchange_both_ways();
}

TEST_F(Nack, silent__is_told_once_of_who_never_answered) {
  a = &network.add({});
  b = &network.add({});
  Request* r = nullptr;
  unheard_connect(r);
  (*a)->set_timeout(r, kSecond);
  Peer* const p = r->peer;
  EXPECT_EQ((*a)->silent_since(p), r->first_sent);
  EXPECT_EQ((*a)->silent_take(), nullptr);
  EXPECT_EQ(wait(*a, r, 10 * kSecond).status, Status::endpoint_unreachable);
  EXPECT_EQ((*a)->silent_take(), p);
  EXPECT_EQ((*a)->silent_take(), nullptr);
  EXPECT_EQ((*a)->silent_since(p), kNever);
  unheard_connect(r);
  (*a)->cancel(r);
  EXPECT_EQ((*a)->silent_take(), p);
}

TEST_F(Nack, nack_lib__from_unknown_peers) {
  Request* s = unacked();
  Host& c = network.add({});
  network.inject(hand_made_nack_lib(c, *a, to_b->counting.next_acked, 3));
  network.inject(hand_made_nack_lib(*a, *a, 1, 3));
  network.run_for(100 * kMillisecond);
  EXPECT_FALSE((*a)->done(s));
  EXPECT_GE(a->counters[Counter::drop_unknown_peer], 2U);
}

// An acknowledged large send has no number that could be refused, but the ping of its receiver gets an
// answer.
TEST_F(Nack, nack_lib__of_a_ping_ends_what_waits_for_the_peer) {
  open();
  Request* s = send(*a, to_b, message(100000), 1);
  network.run_for(200 * kMillisecond);
  ASSERT_EQ(s->phase, Phase::await_notify);
  b->paused = true;
  ASSERT_TRUE(network.run_until([&] { return to_b->liveness.ping_pending; }));
  network.inject(hand_made_nack_lib(*b, *a, 0, 2));
  EXPECT_EQ(wait(*a, s, kSecond).status, Status::endpoint_closed);
}

Bytes nack_mcp(const Host& from, const Host& to, std::uint32_t handle, int code) {
  wire::NackMcp nack;
  nack.code = static_cast<wire::NackCode>(code);
  nack.pull_handle = handle;
  nack.magic = wire::kPullMagic ^ to.endpoint->config().endpoint;
  return hand_made(from.endpoint->config().nic, to.endpoint->config().nic, wire::PacketType::nack_mcp,
                   [&](std::byte* out, const wire::Head& head) { return encode_nack_mcp(out, head, nack); });
}

class NackMcp : public Nack {
 protected:
  // Starts a large message from B to A, none of whose requests arrive, and refuses one of them. Returns how
  // the receive ends.
  Completion refuse(int code, Config config) {
    network.clear();
    config.coalesce = false;  // each packet has a frame of its own, so that tests see its type
    open(config, config);
    network.faults.drop = drop_all(wire::PacketType::pull);
    Request* r = receive(*a, room(100000), 1);
    sent = send(*b, to_a, message(100000), 1);
    EXPECT_TRUE(network.run_until([&] { return r->rx.pull != nullptr; }));
    const std::uint32_t handle = r->rx.pull->handle;
    for (const int unknown : {0, 5, 6, 7, 255}) network.inject(nack_mcp(*b, *a, handle, unknown));
    network.inject(nack_mcp(*b, *a, handle + 1, code));
    network.inject(nack_mcp(*b, *a, handle ^ (1U << 22), code));
    network.inject(nack_mcp(*b, *a, 0, code));
    network.run_for(kMillisecond);
    EXPECT_FALSE((*a)->done(r));
    network.inject(nack_mcp(*b, *a, handle, code));
    network.inject(nack_mcp(*b, *a, handle, code));
    const Completion c = wait(*a, r, kSecond);
    EXPECT_EQ(c.xfer_length, 0U);
    EXPECT_EQ(c.msg_length, 100000U);
    return c;
  }
  Request* sent = nullptr;
};

TEST_F(NackMcp, region__ends_the_receive_and_both_sides_learn) {
  EXPECT_EQ(refuse(4, {}).status, Status::bad_rdma_window);
  EXPECT_EQ(wait(*b, sent, kSecond).status, Status::truncated);
  network.faults.drop = nullptr;
  exchange_both_ways();
}

TEST_F(NackMcp, legacy_peer__ends_the_receive_and_both_sides_learn) {
  const Status expected[] = {Status::bad_endpoint, Status::endpoint_closed, Status::bad_session,
                             Status::bad_rdma_window};
  for (int code = 1; code <= 4; code++) {
    EXPECT_EQ(refuse(code, reference()).status, expected[code - 1]);
    EXPECT_EQ(wait(*b, sent, kSecond).status, Status::truncated);
    network.faults.drop = nullptr;
    exchange_both_ways();
  }
}

// Another instance has the peer's place. No message of that one may follow the one that is lost.
TEST_F(NackMcp, endpoint_or_session__ends_the_conversation) {
  const Status expected[] = {Status::bad_endpoint, Status::endpoint_closed, Status::bad_session};
  for (int code = 1; code <= 3; code++) {
    EXPECT_EQ(refuse(code, {}).status, expected[code - 1]);
    EXPECT_FALSE(to_b->connected());
    EXPECT_EQ((*a)->state().memory.pulls.live(), 0U);
    network.faults.drop = nullptr;
    EXPECT_EQ(wait(*b, sent).status, Status::endpoint_unreachable);
    to_b = connect(network, *a, *b);
    to_a = connect(network, *b, *a);
    exchange_both_ways();
  }
}

TEST_F(Nack, nack_sent__wrong_session_only) {
  open();
  Host& c = network.add({});
  for (const auto type : {wire::PacketType::tiny, wire::PacketType::small}) {
    for (const bool right : {true, false}) {
      wire::Eager packet;
      packet.session = (*a)->config().session + (right ? 0 : 1);
      packet.seqnum = 9;
      network.inject(
          hand_made((*c).config().nic, (*a)->config().nic, type,
                    [&](std::byte* out, const wire::Head& head) { return encode_eager(out, head, packet); }));
    }
  }
  wire::Pull pull;
  pull.session = (*a)->config().session + 1;
  network.inject(hand_made(
      (*c).config().nic, (*a)->config().nic, wire::PacketType::pull,
      [&](std::byte* out, const wire::Head& head) { return encode_pull(out, head, wire::Mode::omx, pull); }));
  network.run_for(kMillisecond);
  EXPECT_EQ(a->counters[Counter::send_nack_lib], 2U);
  EXPECT_EQ(a->counters[Counter::send_nack_mcp], 1U);
}

}  // namespace
}  // namespace omx::protocol::test
