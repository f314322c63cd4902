// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/board/closed_endpoints.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "runtime/board/claim.h"
#include "tests/support/quiet_link.h"

namespace omx::runtime {
namespace {

constexpr NicId kSelf = 0x020000000001, kPeer = 0x020000000002;

// Keeps what is sent, and what the link was told to listen for.
class RecordingLink final : public QuietLink {
 public:
  RecordingLink() : QuietLink(kSelf, 1500) {}
  void frame_commit() override {
    std::vector<std::byte> bytes(frame_.header, frame_.header + frame_.header_length);
    bytes.resize(std::max(bytes.size(), wire::kMinFrame));
    sent.push_back(std::move(bytes));
  }
  void hear_closed(const std::vector<std::uint8_t>& open) override { others = open; }

  std::vector<std::vector<std::byte>> sent;
  std::optional<std::vector<std::uint8_t>> others;
};

class closed_endpoints : public testing::Test {
 protected:
  closed_endpoints() {
    board_.interface.nic = kSelf;
    board_.interface.index = 1'300'000'000U + static_cast<std::uint32_t>(::getpid());
  }
  std::optional<Claim> claim(std::uint32_t endpoint) {
    auto taken = claim_endpoint(board_.interface.index, endpoint);
    EXPECT_TRUE(taken);
    return taken ? std::optional(std::move(*taken)) : std::nullopt;
  }
  static std::vector<std::byte> message_to(std::uint8_t endpoint, std::uint16_t number) {
    wire::Eager packet;
    packet.dst_endpoint = endpoint;
    packet.src_endpoint = 6;
    packet.seqnum = number;
    std::byte bytes[wire::kHeaderCapacity];
    const std::size_t n = wire::encode_eager(bytes, {kSelf, kPeer, 9, wire::PacketType::tiny}, packet);
    std::vector<std::byte> frame(bytes, bytes + n);
    frame.resize(wire::kMinFrame);
    return frame;
  }

  Board board_;
  RecordingLink link_;
  ClosedEndpoints closed_{board_, 3, 32, wire::Mode::mxoe, link_};
};

TEST_F(closed_endpoints, message__is_refused) {
  closed_.listen();
  ASSERT_TRUE(closed_.on_frame(message_to(4, 0x123)));
  ASSERT_TRUE(closed_.on_frame(message_to(40, 0x124)));
  ASSERT_EQ(link_.sent.size(), 2U);
  wire::NackLib nack;
  ASSERT_EQ(wire::decode_nack_lib(link_.sent[0], false, nack), wire::Drop::none);
  EXPECT_EQ(nack.code, wire::NackCode::endpoint_closed);
  EXPECT_EQ(nack.src_endpoint, 4);
  EXPECT_EQ(nack.dst_endpoint, 6);
  EXPECT_EQ(nack.seqnum, 0x123);
  wire::Head head;
  ASSERT_EQ(wire::decode_head(link_.sent[0], head), wire::Drop::none);
  EXPECT_EQ(head.dst, kPeer);
  ASSERT_EQ(wire::decode_nack_lib(link_.sent[1], false, nack), wire::Drop::none);
  EXPECT_EQ(nack.code, wire::NackCode::bad_endpoint);
}

TEST_F(closed_endpoints, pull__is_refused) {
  closed_.listen();
  wire::Pull pull;
  pull.dst_endpoint = 4;
  pull.src_endpoint = 6;
  pull.pull_handle = 77;
  pull.magic = 88;
  std::byte bytes[wire::kHeaderCapacity];
  const std::size_t n =
      wire::encode_pull(bytes, {kSelf, kPeer, 9, wire::PacketType::pull}, wire::Mode::mxoe, pull);
  ASSERT_TRUE(closed_.on_frame({bytes, std::max(n, wire::kMinFrame)}));
  wire::NackMcp nack;
  ASSERT_EQ(wire::decode_nack_mcp(link_.sent.at(0), false, nack), wire::Drop::none);
  EXPECT_EQ(nack.code, wire::NackCode::endpoint_closed);
  EXPECT_EQ(nack.src_endpoint, 6);
  EXPECT_EQ(nack.refusing_endpoint, 4);
  EXPECT_EQ(nack.pull_handle, 77U);
  EXPECT_EQ(nack.magic, 88U);
}

TEST_F(closed_endpoints, others__are_learned_and_forgotten) {
  auto four = claim(4);
  closed_.listen();
  EXPECT_EQ(link_.others, std::vector<std::uint8_t>{4}) << "open already";
  auto five = claim(5);
  EXPECT_FALSE(closed_.on_frame(message_to(5, 1)));
  EXPECT_EQ(link_.others, (std::vector<std::uint8_t>{4, 5}));
  EXPECT_TRUE(link_.sent.empty()) << "who has it answers";
  four.reset();
  closed_.check();
  EXPECT_EQ(link_.others, std::vector<std::uint8_t>{5});
  EXPECT_TRUE(closed_.on_frame(message_to(4, 1)));
}

TEST_F(closed_endpoints, what_is_not_for_it) {
  EXPECT_FALSE(closed_.on_frame(message_to(4, 1))) << "it does not listen yet";
  EXPECT_FALSE(link_.others);
  closed_.listen();
  EXPECT_FALSE(closed_.on_frame(message_to(3, 1))) << "its own endpoint";
  auto other_board = message_to(4, 1);
  other_board[5] = std::byte{0x77};
  EXPECT_FALSE(closed_.on_frame(other_board));
  auto ack = message_to(4, 1);
  ack[16] = static_cast<std::byte>(wire::PacketType::truc);
  EXPECT_FALSE(closed_.on_frame(ack)) << "acknowledgements are not refused";
  EXPECT_FALSE(closed_.on_frame({ack.data(), 10}));
  EXPECT_TRUE(link_.sent.empty());
}

}  // namespace
}  // namespace omx::runtime
