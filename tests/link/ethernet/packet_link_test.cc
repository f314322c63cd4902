// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>

#include "base/bytes.h"
#include "tests/support/allocation_count.h"
#include "tests/support/test_network.h"

namespace omx::link {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class packet_link : public CableTest {};

TEST_F(packet_link, open__knows_its_interface) {
  auto link = open("v0");
  EXPECT_EQ(link->interface().nic(), nic_of("v0"));
  EXPECT_EQ(link->interface().mtu(), 1500U);
  EXPECT_GE(link->descriptor(), 0);
  EXPECT_TRUE(link->interface().refresh());
}

TEST_F(packet_link, open__no_such_interface_names_those_there_are) {
  const auto link = packet_link_open({.interface = "eth77"});
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().mx_code, 8);
  EXPECT_THAT(link.error().message,
              AllOf(HasSubstr("eth77"), HasSubstr("v0"), HasSubstr("v1"), HasSubstr("lo")));
}

TEST_F(packet_link, open__without_permission_names_the_remedy) {
  ASSERT_EQ(::seteuid(65534), 0);
  const auto link = packet_link_open({.interface = "v0"});
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().mx_code, 7);
  EXPECT_THAT(link.error().message, AllOf(HasSubstr("v0"), HasSubstr("CAP_NET_RAW"), HasSubstr("setcap")));
}

TEST_F(packet_link, open__not_ethernet) {
  if (std::system("ip tuntap add dev t0 mode tun 2>/dev/null") != 0) GTEST_SKIP() << "no tun device here";
  const auto link = packet_link_open({.interface = "t0"});
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().mx_code, 8);
  EXPECT_THAT(link.error().message, HasSubstr("not an Ethernet interface"));
}

TEST_F(packet_link, send__arrives_unchanged) {
  auto a = open("v0");
  auto b = open("v1");
  const Bytes frame = make_frame(b->interface().nic(), a->interface().nic(), 100);
  frame_send(*a, frame);
  Collector got;
  ASSERT_TRUE(receive_until(*b, got, 1));
  EXPECT_EQ(got.frames[0], frame);
  EXPECT_EQ(a->counters().frames_sent, 1U);
  EXPECT_EQ(a->counters().bytes_sent, 100U);
  EXPECT_EQ(b->counters().frames_received, 1U);
  EXPECT_EQ(b->counters().bytes_received, 100U);
}

TEST_F(packet_link, send__broadcast) {
  auto a = open("v0");
  auto b = open("v1");
  frame_send(*a, make_frame(kBroadcastNic, a->interface().nic(), 64, 1));
  Collector got;
  EXPECT_TRUE(receive_until(*b, got, 1));
}

TEST_F(packet_link, send__short_frames_are_padded_with_zeros) {
  auto a = open("v0");
  auto b = open("v1");
  // Bytes that a longer frame left in the same slot must not leak.
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 300));
  const Bytes frame = make_frame(b->interface().nic(), a->interface().nic(), 41);
  frame_send(*a, frame);
  Bytes tail(7, std::byte{0xEE});
  wire::TxFrame& tx = a->frame_begin(2);
  std::copy(frame.begin(), frame.end(), tx.header);
  tx.header_length = 41;
  tx.segments[0] = iovec{tail.data(), 3};
  tx.segments[1] = iovec{tail.data() + 3, 4};
  tx.segment_count = 2;
  a->frame_commit();
  a->flush();

  Collector got;
  ASSERT_TRUE(receive_until(*b, got, 3));
  Bytes expected = frame;
  expected.resize(60);
  EXPECT_EQ(got.frames[1], expected);
  std::copy(tail.begin(), tail.end(), expected.begin() + 41);
  EXPECT_EQ(got.frames[2], expected);
}

TEST_F(packet_link, send__batches_keep_order) {
  auto a = open("v0", {.batch = 8});
  auto b = open("v1");
  std::vector<Bytes> frames;
  for (std::uint8_t i = 0; i < 100; i++)
    frames.push_back(make_frame(b->interface().nic(), a->interface().nic(), 60U + 14U * i, 39, 0, i));
  for (const Bytes& frame : frames) frame_queue(*a, frame);
  a->flush();
  Collector got;
  ASSERT_TRUE(receive_until(*b, got, frames.size()));
  EXPECT_EQ(got.frames, frames);
  EXPECT_EQ(a->counters().send_calls, 13U);  // 12 full batches and the rest
  EXPECT_EQ(a->counters().frames_sent, 100U);
}

TEST_F(packet_link, send__frames_of_many_pieces) {
  auto a = open("v0");
  auto b = open("v1");
  std::vector<Bytes> frames;
  for (std::uint8_t i = 0; i < 40; i++)
    frames.push_back(make_frame(b->interface().nic(), a->interface().nic(), 48 + 260 * 5, 42, 0, i));
  for (Bytes& frame : frames) {
    store_be32(&frame[28], wire::kPullMagic);  // endpoint 0
    wire::TxFrame& tx = a->frame_begin(260);
    std::copy_n(frame.begin(), 48, tx.header);
    tx.header_length = 48;
    for (std::size_t i = 0; i < 260; i++) tx.segments[i] = iovec{&frame[48 + i * 5], 5};
    tx.segment_count = 260;
    a->frame_commit();
  }
  a->flush();
  Collector got;
  ASSERT_TRUE(receive_until(*b, got, frames.size()));
  EXPECT_EQ(got.frames, frames);
  EXPECT_EQ(a->counters().send_errors, 0U);
}

TEST_F(packet_link, send__largest_frame_of_every_mtu) {
  for (std::uint32_t mtu : {1500U, 3500U, 9000U, 65535U}) {
    set_mtu(mtu);
    auto a = open("v0");
    auto b = open("v1");
    ASSERT_EQ(a->interface().mtu(), mtu);
    std::vector<Bytes> frames;
    for (std::uint8_t i = 0; i < 70; i++)
      frames.push_back(make_frame(b->interface().nic(), a->interface().nic(), mtu + 14, 39, 0, i));
    Collector got;
    for (const Bytes& frame : frames) {
      frame_send(*a, frame);
      ASSERT_TRUE(receive_until(*b, got, got.frames.size() + 1)) << mtu;
    }
    EXPECT_EQ(got.frames, frames) << mtu;
    EXPECT_EQ(b->counters().frames_ignored, 0U);
  }
}

// Large frames take small ones of the batch along by another socket.
TEST_F(packet_link, send__large_and_small_in_one_batch) {
  set_mtu(65535);
  auto a = open("v0");
  auto b = open("v1");
  std::vector<Bytes> frames;
  std::size_t bytes = 0;
  for (unsigned i = 0; i < 40; i++) {
    const std::size_t sizes[] = {60, 65535, 1514, 9000, 61};
    frames.push_back(make_frame(b->interface().nic(), a->interface().nic(), sizes[i % 5], 39, 0,
                                static_cast<std::uint8_t>(i)));
    bytes += frames.back().size();
  }
  // Without the right to open that socket, large frames go like all others.
  for (const bool may : {true, false}) {
    if (!may) a = open("v0");
    ASSERT_EQ(::seteuid(may ? 0 : 65534), 0);
    for (const Bytes& frame : frames) frame_queue(*a, frame);
    a->flush();
    ASSERT_EQ(::seteuid(0), 0);
    Collector got;
    ASSERT_TRUE(receive_until(*b, got, frames.size()));
    EXPECT_EQ(got.frames, frames);
    EXPECT_EQ(a->counters().frames_sent, frames.size());
    EXPECT_EQ(a->counters().bytes_sent, bytes);
  }
}

TEST_F(packet_link, send__too_long_is_dropped_alone) {
  auto a = open("v0");
  auto b = open("v1");
  const Bytes good = make_frame(b->interface().nic(), a->interface().nic(), 1514);
  const Bytes bad = make_frame(b->interface().nic(), a->interface().nic(), 1600);
  for (const Bytes* frame : {&good, &bad, &good}) frame_queue(*a, *frame);
  a->flush();
  Collector got;
  ASSERT_TRUE(receive_until(*b, got, 2));
  EXPECT_EQ(a->counters().send_errors, 1U);
  EXPECT_EQ(a->counters().frames_sent, 2U);
}

TEST_F(packet_link, receive__filter_in_place) {
  auto a = open("v0");
  auto b = open("v1", {.endpoint = 3, .board_frames = false});
  for (std::uint8_t endpoint = 0; endpoint < 10; endpoint++) {
    frame_queue(*a, make_frame(b->interface().nic(), a->interface().nic(), 60, 37, endpoint));
  }
  a->flush();
  Collector got;
  ASSERT_TRUE(receive_until(*b, got, 1));
  EXPECT_EQ(got.frames.size(), 1U);
  EXPECT_EQ(b->counters().frames_received, 1U);
}

TEST_F(packet_link, receive__neither_own_copies_nor_frames_for_others) {
  auto a = open("v0", {.all_frames = true});
  auto second = open("v0", {.all_frames = true});  // another process of this host
  auto b = open("v1", {.all_frames = true});
  ip("link set v1 promisc on");
  frame_send(*a, make_frame(0x020304050607, a->interface().nic(), 60));
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 61));
  Collector got_a, got_second, got_b;
  ASSERT_TRUE(receive_until(*b, got_b, 1));
  EXPECT_EQ(got_b.frames.size(), 1U);
  EXPECT_EQ(got_b.frames[0].size(), 61U);
  EXPECT_EQ(a->receive(got_a, 16), 0U);
  EXPECT_EQ(second->receive(got_second, 16), 0U);
}

TEST_F(packet_link, receive__budget) {
  auto a = open("v0");
  auto b = open("v1");
  for (std::uint8_t i = 0; i < 10; i++)
    frame_queue(*a, make_frame(b->interface().nic(), a->interface().nic(), 60, 37, 0, i));
  a->flush();
  Collector got;
  ASSERT_TRUE(becomes_true([&] { return b->receive(got, 4) == 4; }));
  EXPECT_EQ(got.frames.size(), 4U);
  ASSERT_TRUE(receive_until(*b, got, 10));
  for (std::uint8_t i = 0; i < 10; i++) EXPECT_EQ(got.frames[i][20], static_cast<std::byte>(140 + i));
}

TEST_F(packet_link, receive__ring_goes_round) {
  auto a = open("v0");
  auto b = open("v1", {.ring_frames = 64});
  Collector got;
  for (std::size_t i = 0; i < 1000; i++) {
    const Bytes frame =
        make_frame(b->interface().nic(), a->interface().nic(), 60 + i, 39, 0, static_cast<std::uint8_t>(i));
    frame_send(*a, frame);
    ASSERT_TRUE(receive_until(*b, got, i + 1));
    ASSERT_EQ(got.frames[i], frame);
  }
  b->interface().refresh();
  EXPECT_EQ(b->counters().ring_drops, 0U);
}

TEST_F(packet_link, receive__overflow_is_counted) {
  auto a = open("v0");
  auto b = open("v1", {.ring_frames = 64, .ring_bytes = 0});
  constexpr std::size_t kFrames = 500;
  for (std::size_t i = 0; i < kFrames; i++)
    frame_queue(*a, make_frame(b->interface().nic(), a->interface().nic(), 60));
  a->flush();
  Collector got;
  // Each frame that was sent is either in the ring or counted, and the sum is exact.
  ASSERT_TRUE(becomes_true([&] {
    b->interface().refresh();
    while (b->counters().ring_drops > 0 && b->receive(got, 100) > 0) {
    }
    return got.frames.size() + b->counters().ring_drops == kFrames;
  }));
  EXPECT_GE(got.frames.size(), 64U);
  EXPECT_LT(got.frames.size(), kFrames);
  // Frames still arrive afterwards.
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 60));
  EXPECT_TRUE(receive_until(*b, got, got.frames.size() + 1));
}

TEST_F(packet_link, descriptor__readable_when_frames_wait) {
  auto a = open("v0");
  auto b = open("v1");
  pollfd waiting{b->descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 60));
  EXPECT_EQ(::poll(&waiting, 1, 5000), 1);
  EXPECT_EQ(waiting.revents, POLLIN);
  Collector got;
  EXPECT_EQ(b->receive(got, 10), 1U);
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
}

TEST_F(packet_link, loopback__works_within_the_host) {
  ip("link set lo up");
  auto a = open("lo", {.endpoint = 1});
  auto b = open("lo", {.endpoint = 2});
  EXPECT_EQ(a->interface().nic(), 0U);
  frame_send(*a, make_frame(0, 0, 60000, 37, 2));
  Collector got_a, got_b;
  ASSERT_TRUE(receive_until(*b, got_b, 1));
  EXPECT_EQ(got_b.frames[0].size(), 60000U);
  EXPECT_EQ(a->receive(got_a, 10), 0U);
}

TEST_F(packet_link, data_path__allocates_nothing) {
  struct Counter : FrameHandler {
    void on_frame(wire::Frame frame) override { bytes += frame.size(); }
    std::size_t bytes = 0;
  } counter;
  auto a = open("v0");
  auto b = open("v1");
  const Bytes frame = make_frame(b->interface().nic(), a->interface().nic(), 1514);
  const std::uint64_t before = omx::test::allocation_count();
  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < 20; i++) frame_queue(*a, frame);
    a->flush();
    while (b->receive(counter, 64) > 0) {
    }
  }
  a->interface().refresh();
  EXPECT_EQ(omx::test::allocation_count(), before);
  EXPECT_GT(counter.bytes, 0U);
}

}  // namespace
}  // namespace omx::link
