// SPDX-License-Identifier: BSD-3-Clause
// Tests of the filter program, which the kernel runs. It is attached to a Unix socket, which needs no
// privilege.
#include "link/packet/packet_filter.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

#include "base/bytes.h"
#include "wire/codec.h"

namespace omx::link {
namespace {

using Bytes = std::vector<std::byte>;
using wire::PacketType;

class Gate {
 public:
  explicit Gate(const FilterRule& rule) {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends_.data()), 0);
    EXPECT_EQ(packet_filter_attach(ends_[1], packet_filter_build(rule)), 0);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() {
    for (int end : ends_) ::close(end);
  }

  bool passes(const Bytes& frame) {
    std::array<std::byte, 2048> buffer;
    // The kernel reports a frame that the filter refuses as sent.
    EXPECT_EQ(::send(ends_[0], frame.data(), frame.size(), 0), static_cast<ssize_t>(frame.size()));
    const ssize_t got = ::recv(ends_[1], buffer.data(), buffer.size(), 0);
    if (got < 0) return false;
    EXPECT_EQ(static_cast<std::size_t>(got), frame.size()) << "the filter must not cut";
    return true;
  }

 private:
  std::array<int, 2> ends_{};
};

Bytes frame_of_type(unsigned type) {
  Bytes frame(60);
  store_be16(&frame[12], wire::kEthertype);
  store8(&frame[16], static_cast<std::uint8_t>(type));
  return frame;
}

// Makes a frame for `endpoint` by docs/spec/wire.md 4 and not by the codec.
Bytes frame_for(unsigned type, std::uint8_t endpoint) {
  Bytes frame = frame_of_type(type);
  switch (type) {
    case 42:
    case 45:
      store_be32(&frame[28], 0x21071980U ^ endpoint);
      break;
    case 44:
      store8(&frame[25], endpoint);
      break;
    case 36:
      store8(&frame[42], 1);
      [[fallthrough]];  // a reply
    default:
      store8(&frame[17], endpoint);
      break;
  }
  return frame;
}

constexpr unsigned kEndpointTypes[] = {35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 64};

TEST(packet_filter, endpoint__only_its_own) {
  for (unsigned own : {0U, 1U, 3U, 127U, 128U, 200U, 255U}) {
    const auto endpoint = static_cast<std::uint8_t>(own);
    Gate gate({.endpoint = endpoint, .board_frames = false, .all_frames = false});
    for (unsigned type : kEndpointTypes) {
      EXPECT_TRUE(gate.passes(frame_for(type, endpoint))) << type << " for " << own;
      EXPECT_FALSE(gate.passes(frame_for(type, static_cast<std::uint8_t>(own + 1))))
          << type << " for " << own;
      EXPECT_FALSE(gate.passes(frame_for(type, static_cast<std::uint8_t>(own ^ 0x80))))
          << type << " for " << own;
    }
  }
}

TEST(packet_filter, endpoint__every_type_as_the_codec_sees_it) {
  constexpr std::uint8_t kEndpoint = 5;
  Gate gate({.endpoint = kEndpoint, .board_frames = false, .all_frames = false});
  for (unsigned type = 0; type < 256; type++) {
    for (std::uint8_t endpoint : {0, 5, 133, 255}) {
      const Bytes frame = frame_for(type, endpoint);
      EXPECT_EQ(gate.passes(frame), wire::destination_endpoint(frame) == kEndpoint)
          << type << " for " << +endpoint;
    }
  }
}

TEST(packet_filter, closed_ones__all_but_the_others) {
  FilterRule rule{.endpoint = 5, .board_frames = true, .all_frames = false};
  rule.closed_ones = true;
  for (const bool many : {false, true}) {
    rule.others = {7, 200};
    if (many) {
      for (unsigned e = 10; e < 255; e++) rule.others.push_back(static_cast<std::uint8_t>(e));
    }
    Gate gate(rule);
    for (const unsigned type : {38U, 39U, 40U, 41U, 43U, 37U}) {
      EXPECT_TRUE(gate.passes(frame_for(type, 5))) << type;
      EXPECT_TRUE(gate.passes(frame_for(type, 6))) << type << ": nobody has it";
      EXPECT_FALSE(gate.passes(frame_for(type, 7))) << type << ": somebody else has it";
      EXPECT_FALSE(gate.passes(frame_for(type, 200))) << type;
      EXPECT_TRUE(gate.passes(frame_for(type, 255))) << type;
    }
    EXPECT_FALSE(gate.passes(frame_for(42, 6))) << "replies to nobody are not refused";
    EXPECT_FALSE(gate.passes(frame_for(44, 6)));
  }
  rule.others.clear();
  EXPECT_TRUE(Gate(rule).passes(frame_for(39, 7)));
}

TEST(packet_filter, nack__the_addressed_endpoint_is_not_the_receiver) {
  Gate gate({.endpoint = 5, .board_frames = false, .all_frames = false});
  Bytes frame = frame_for(44, 7);
  store8(&frame[17], 5);  // the endpoint that refused
  EXPECT_FALSE(gate.passes(frame));
  frame = frame_for(42, 7);
  store8(&frame[17], 5);  // frame number
  EXPECT_FALSE(gate.passes(frame));
}

TEST(packet_filter, connect__requests_to_any_endpoint_with_board_frames) {
  Bytes request = frame_for(36, 9);
  store8(&request[42], 0);
  EXPECT_TRUE(Gate({.endpoint = 5, .board_frames = true, .all_frames = false}).passes(request));
  EXPECT_FALSE(Gate({.endpoint = 5, .board_frames = false, .all_frames = false}).passes(request));
  EXPECT_TRUE(Gate({.endpoint = 9, .board_frames = false, .all_frames = false}).passes(request));
  // Replies are for one endpoint only; any value but 0 makes a reply.
  for (std::uint8_t is_reply : {1, 2, 255}) {
    store8(&request[42], is_reply);
    EXPECT_FALSE(Gate({.endpoint = 5, .board_frames = true, .all_frames = false}).passes(request));
    EXPECT_TRUE(Gate({.endpoint = 9, .board_frames = true, .all_frames = false}).passes(request));
  }
}

TEST(packet_filter, board_frames__discovery_passes_only_there) {
  for (unsigned type : {1U, 3U, 4U}) {
    EXPECT_TRUE(Gate({.endpoint = 5, .board_frames = true, .all_frames = false}).passes(frame_of_type(type)));
    EXPECT_FALSE(
        Gate({.endpoint = 0, .board_frames = false, .all_frames = false}).passes(frame_of_type(type)));
  }
}

// Of a stream's frames only the solicited ones wake (docs/reference/wire.md 6).
TEST(packet_filter, solicited__marked_frames_and_those_that_come_alone) {
  FilterRule rule;
  rule.endpoint = 5;
  rule.board_frames = false;
  rule.frames = FrameClass::solicited;
  Gate gate(rule);
  constexpr unsigned kMedium = static_cast<unsigned>(PacketType::medium);
  constexpr unsigned kReply = static_cast<unsigned>(PacketType::pull_reply);
  constexpr unsigned kAck = static_cast<unsigned>(PacketType::truc);
  for (unsigned type : kEndpointTypes) {
    const bool stream = type == kMedium || type == kReply || type == kAck;
    EXPECT_EQ(gate.passes(frame_for(type, 5)), !stream) << type;
    EXPECT_FALSE(gate.passes(frame_for(type, 6))) << type;
    if (!stream) continue;
    for (const unsigned flags : {1U, 3U, 2U, 0xFEU}) {
      Bytes frame = frame_for(type, 5);
      store8(&frame[type == kReply ? 15 : 19], static_cast<std::uint8_t>(flags));
      EXPECT_EQ(gate.passes(frame), (flags & 1) != 0) << type << " flags " << flags;
      frame = frame_for(type, 6);
      store8(&frame[type == kReply ? 15 : 19], static_cast<std::uint8_t>(flags));
      EXPECT_FALSE(gate.passes(frame)) << type;
    }
  }
}

TEST(packet_filter, unknown_types__refused) {
  Gate gate({.endpoint = 0, .board_frames = true, .all_frames = false});
  for (unsigned type = 0; type < 256; type++) {
    const bool known =
        type == 1 || type == 3 || type == 4 || (type >= 35 && type <= 45) || type == 64 || type == 65;
    EXPECT_EQ(gate.passes(frame_for(type, 0)), known) << type;
  }
}

TEST(packet_filter, all_frames__everything) {
  Gate gate({.endpoint = 0, .board_frames = false, .all_frames = true});
  for (unsigned type = 0; type < 256; type++) EXPECT_TRUE(gate.passes(frame_for(type, 77)));
}

TEST(packet_filter, short_frames__refused_not_read_beyond) {
  Gate gate({.endpoint = 5, .board_frames = true, .all_frames = false});
  EXPECT_FALSE(gate.passes(Bytes(10)));
  Bytes frame = frame_for(42, 5);
  frame.resize(31);
  EXPECT_FALSE(gate.passes(frame));
  frame = frame_for(36, 5);
  frame.resize(42);
  EXPECT_FALSE(gate.passes(frame));
}

}  // namespace
}  // namespace omx::link
