// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/board_responder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

namespace omx::runtime {
namespace {

constexpr NicId kSelf = 0x020000000001, kPeer = 0x020000000002, kThird = 0x020000000003;

// Keeps the frames, padded as a link does.
class Recorder final : public wire::FrameSink {
 public:
  wire::TxFrame& frame_begin(std::uint32_t) override { return frame_; }
  void frame_commit() override {
    std::vector<std::byte> bytes(frame_.header, frame_.header + frame_.header_length);
    if (bytes.size() < wire::kMinFrame) bytes.resize(wire::kMinFrame);
    frames.push_back(std::move(bytes));
  }
  void flush() override {}
  std::vector<std::vector<std::byte>> frames;

 private:
  wire::TxFrame frame_;
};

TimeNs g_now = 1;  // the time that the responders see
constexpr TimeNs kMs = protocol::kMillisecond;

struct Host {
  Host(NicId nic, const std::string& name, std::uint32_t ifindex) {
    board.interface.nic = nic;
    board.interface.index = ifindex;
    board.hostname = name;
  }
  Board board;
  PeerTable peers;
  Recorder sink;
  BoardResponder responder{board, 32, peers, sink, [] { return g_now; }};
};

class board_responder : public testing::Test {
 protected:
  static std::uint32_t ifindex() { return 1'200'000'000U + static_cast<std::uint32_t>(::getpid()); }
  Host self_{kSelf, "self:0", ifindex()};
  Host peer_{kPeer, "peer:0", ifindex() + 1};

  std::vector<std::byte> connect_frame(std::uint8_t endpoint, bool reply = false) {
    wire::Connect connect;
    connect.dst_endpoint = endpoint;
    connect.src_endpoint = 9;
    connect.src_dst_peer_index = 77;
    connect.is_reply = reply;
    std::byte bytes[wire::kHeaderCapacity];
    const std::size_t size = wire::encode_connect(
        bytes, {kSelf, kPeer, wire::kUnknownPeerIndex, wire::PacketType::connect}, connect);
    return {bytes, bytes + size};
  }
  wire::NackLib nack_of(const std::vector<std::byte>& frame, wire::Head& head) {
    wire::NackLib nack;
    EXPECT_EQ(wire::decode_head(frame, head), wire::Drop::none);
    EXPECT_EQ(wire::decode_nack_lib(frame, false, nack), wire::Drop::none);
    return nack;
  }
};

TEST_F(board_responder, query__answered_and_learned) {
  peer_.responder.query(kSelf);
  EXPECT_TRUE(self_.responder.on_frame(peer_.sink.frames.at(0)));
  ASSERT_EQ(self_.sink.frames.size(), 1U);
  EXPECT_TRUE(self_.peers.find(kPeer));  // the peer uses Open-MX
  EXPECT_TRUE(peer_.responder.on_frame(self_.sink.frames[0]));
  EXPECT_EQ(peer_.peers.find("self:0")->nic, kSelf);
}

TEST_F(board_responder, query__broadcast_too) {
  peer_.responder.query(kBroadcastNic);
  self_.responder.on_frame(peer_.sink.frames.at(0));
  EXPECT_EQ(self_.sink.frames.size(), 1U);
}

TEST_F(board_responder, query__for_another_nic_is_ignored) {
  peer_.responder.query(kThird);
  EXPECT_TRUE(self_.responder.on_frame(peer_.sink.frames.at(0)));
  EXPECT_TRUE(self_.sink.frames.empty());
}

TEST_F(board_responder, query__asked_back) {
  self_.responder.ask_back();
  peer_.responder.query(kBroadcastNic);
  self_.responder.on_frame(peer_.sink.frames.at(0));
  ASSERT_EQ(self_.sink.frames.size(), 2U);
  peer_.responder.on_frame(self_.sink.frames[0]);
  self_.responder.on_frame(peer_.sink.frames.at(1));
  EXPECT_EQ(self_.peers.find(kPeer)->name, "peer:0");
  self_.responder.on_frame(peer_.sink.frames.at(0));
  EXPECT_EQ(self_.sink.frames.size(), 3U);  // the name is known now
}

TEST_F(board_responder, query__one_responder_per_board) {
  Host second(kSelf, "self:0", ifindex());
  peer_.responder.query(kSelf);
  self_.responder.on_frame(peer_.sink.frames.at(0));
  second.responder.on_frame(peer_.sink.frames.at(0));
  EXPECT_EQ(self_.sink.frames.size() + second.sink.frames.size(), 1U);
}

// The process that holds the claim may compute: it receives nothing until it calls us again.
TEST_F(board_responder, query__repeated_is_answered_by_one_of_the_others) {
  peer_.responder.query(kSelf);
  const auto& question = peer_.sink.frames.at(0);
  Host silent(kSelf, "self:0", ifindex());
  silent.responder.on_frame(question);
  Host second(kSelf, "self:0", ifindex()), third(kSelf, "self:0", ifindex());
  const auto answers = [&] { return second.sink.frames.size() + third.sink.frames.size(); };
  const auto ask = [&](TimeNs pause) {
    g_now += pause;
    second.responder.on_frame(question);
    third.responder.on_frame(question);
  };
  ask(0);
  EXPECT_EQ(answers(), 0U);
  ask(1 * kMs);  // came twice, or a copy lay in the ring
  EXPECT_EQ(answers(), 0U);
  ask(50 * kMs);
  EXPECT_EQ(answers(), 1U);
  ask(100 * kMs);
  EXPECT_EQ(answers(), 2U);
  ask(60'000 * kMs);  // a new question
  EXPECT_EQ(answers(), 2U);
}

TEST_F(board_responder, query__repeated_by_many_is_remembered_as_far_as_it_goes) {
  Host silent(kSelf, "self:0", ifindex());
  peer_.responder.query(kSelf);
  silent.responder.on_frame(peer_.sink.frames.at(0));
  for (int round = 0; round < 3; round++, g_now += 50 * kMs) {
    for (NicId nic = 1; nic <= 1000; nic++) {
      Host asker(nic, "x:0", ifindex() + 1);
      asker.responder.query(kSelf);
      self_.responder.on_frame(asker.sink.frames.at(0));
    }
  }
  EXPECT_TRUE(self_.sink.frames.empty());  // the questions were forgotten each time
  self_.responder.on_frame(peer_.sink.frames.at(0));
  g_now += 50 * kMs;
  self_.responder.on_frame(peer_.sink.frames.at(0));
  EXPECT_EQ(self_.sink.frames.size(), 1U);
}

TEST_F(board_responder, query__taken_over_when_the_first_is_gone) {
  peer_.responder.query(kSelf);
  {
    Host first(kSelf, "self:0", ifindex());
    first.responder.on_frame(peer_.sink.frames.at(0));
    self_.responder.on_frame(peer_.sink.frames.at(0));
    EXPECT_TRUE(self_.sink.frames.empty());
  }
  self_.responder.on_frame(peer_.sink.frames.at(0));
  EXPECT_EQ(self_.sink.frames.size(), 1U);
}

TEST_F(board_responder, reply__of_another_time_or_with_a_strange_name) {
  wire::HostReply reply;
  std::byte bytes[wire::kHeaderCapacity];
  const auto deliver = [&](const char* name, std::uint32_t magic) {
    reply.magic = magic;
    reply.name = name;
    reply.name_length = static_cast<std::uint8_t>(std::string(name).size() + 1);
    const std::size_t size =
        wire::encode_host_reply(bytes, {kSelf, kPeer, 0, wire::PacketType::host_reply}, reply);
    EXPECT_TRUE(self_.responder.on_frame({bytes, size}));
  };
  deliver("late:0", 1);
  deliver("a b", wire::kHostQueryMagic);
  deliver("", wire::kHostQueryMagic);
  EXPECT_FALSE(self_.peers.find(kPeer));
  deliver("good:0", wire::kHostQueryMagic);
  EXPECT_EQ(self_.peers.find(kPeer)->name, "good:0");
}

TEST_F(board_responder, discovery__adds_the_nic) {
  peer_.responder.announce(5);
  EXPECT_TRUE(self_.responder.on_frame(peer_.sink.frames.at(0)));
  EXPECT_EQ(self_.peers.find(kPeer)->name, "");
  EXPECT_TRUE(peer_.responder.on_frame(peer_.sink.frames.at(0)));  // its own board's name
  EXPECT_FALSE(peer_.peers.find(kPeer));
}

TEST_F(board_responder, connect__to_a_closed_endpoint) {
  EXPECT_TRUE(self_.responder.on_frame(connect_frame(5)));
  ASSERT_EQ(self_.sink.frames.size(), 1U);
  wire::Head head;
  const wire::NackLib nack = nack_of(self_.sink.frames[0], head);
  EXPECT_EQ(nack.code, wire::NackCode::endpoint_closed);
  EXPECT_EQ(nack.src_endpoint, 5);
  EXPECT_EQ(nack.dst_endpoint, 9);
  EXPECT_EQ(nack.seqnum, 0);
  EXPECT_EQ(head.dst, kPeer);
  EXPECT_EQ(head.src, kSelf);
  EXPECT_EQ(head.peer_index, 77);
}

TEST_F(board_responder, connect__beyond_the_last_endpoint) {
  self_.responder.on_frame(connect_frame(32));
  wire::Head head;
  ASSERT_EQ(self_.sink.frames.size(), 1U);
  EXPECT_EQ(nack_of(self_.sink.frames[0], head).code, wire::NackCode::bad_endpoint);
}

TEST_F(board_responder, connect__to_an_open_endpoint_is_left_to_it) {
  const auto claim = claim_endpoint(ifindex(), 6);
  ASSERT_TRUE(claim);
  EXPECT_TRUE(self_.responder.on_frame(connect_frame(6)));
  EXPECT_TRUE(self_.sink.frames.empty());
}

TEST_F(board_responder, connect__repeated_is_refused_by_another) {
  Host silent(kSelf, "self:0", ifindex());
  silent.responder.on_frame(connect_frame(5));
  self_.responder.on_frame(connect_frame(5));
  g_now += 500 * kMs;
  self_.responder.on_frame(connect_frame(4));  // another request
  EXPECT_TRUE(self_.sink.frames.empty());
  self_.responder.on_frame(connect_frame(5));
  ASSERT_EQ(self_.sink.frames.size(), 1U);
  wire::Head head;
  EXPECT_EQ(nack_of(self_.sink.frames[0], head).code, wire::NackCode::endpoint_closed);
}

TEST_F(board_responder, connect__not_refused_without_descriptors) {
  self_.responder.on_frame(connect_frame(5));  // this endpoint answers for the board now
  ASSERT_EQ(self_.sink.frames.size(), 1U);
  const auto claim = claim_endpoint(ifindex(), 6);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  self_.responder.on_frame(connect_frame(6));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(self_.sink.frames.size(), 1U);
}

TEST_F(board_responder, connect__replies_are_never_refused) {
  self_.responder.on_frame(connect_frame(5, true));
  EXPECT_TRUE(self_.sink.frames.empty());
}

TEST_F(board_responder, other_frames__are_not_its_business) {
  std::vector<std::byte> frame = connect_frame(5);
  frame[16] = std::byte{37};
  EXPECT_FALSE(self_.responder.on_frame(frame));
  EXPECT_FALSE(self_.responder.on_frame({}));
}

}  // namespace
}  // namespace omx::runtime
