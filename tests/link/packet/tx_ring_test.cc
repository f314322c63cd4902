// SPDX-License-Identifier: BSD-3-Clause
// Tests of raw frames that are sent from a ring, over a virtual cable of the test's own.
#include "link/packet/tx_ring.h"

#include <gmock/gmock.h>
#include <net/if.h>

#include <cstring>

#include "link/packet/packet_socket.h"
#include "link/packet/tx_batch.h"
#include "link/packet/zerocopy_policy.h"
#include "tests/support/test_network.h"

namespace omx::link {
namespace {

constexpr std::size_t kBytes = 8914;

class tx_ring : public CableTest {
 protected:
  void SetUp() override {
    CableTest::SetUp();
    OMX_SKIP_BY_UDP();
    OMX_SKIP_BY_BROKER();
    if (IsSkipped()) return;
    set_mtu(9000);
  }
  Bytes frame(std::uint8_t seed, std::size_t bytes = kBytes) {
    return make_frame(nic_of("v1"), nic_of("v0"), bytes, 37, 0, seed);
  }
  // Sends a batch. The frames last until it has left.
  void send(Transport& link, std::uint8_t count, std::size_t bytes = kBytes) {
    std::vector<Bytes> frames;
    for (std::uint8_t n = 0; n < count; n++) frames.push_back(frame(n, bytes));
    for (const Bytes& one : frames) frame_queue(link, one);
    link.flush();
  }
  // Sends frames of all sizes in a batch, and expects them on the other side, in order.
  void expect_batches(Transport& link, Transport& other, int batches) {
    for (int batch = 0; batch < batches; batch++) {
      std::vector<Bytes> frames;
      for (std::uint8_t n = 0; n < 8; n++)
        frames.push_back(frame(static_cast<std::uint8_t>(8 * batch + n), kBytes - 1000 * n));
      for (const Bytes& one : frames) frame_queue(link, one);
      link.flush();
      Collector collector;
      ASSERT_TRUE(receive_until(other, collector, frames.size()));
      ASSERT_EQ(collector.frames, frames) << batch;
    }
  }
  static PacketLinkOptions options(ZerocopyMode mode) {
    PacketLinkOptions options;
    options.zerocopy = mode;
    return options;
  }
};

// More batches than the ring has slots for.
TEST_F(tx_ring, always__frames_arrive_in_order) {
  const auto link = open("v0", options(ZerocopyMode::always)), other = open("v1");
  ASSERT_TRUE(link && other);
  expect_batches(*link, *other, 100);
  EXPECT_EQ(link->counters().ring_frames_sent, 800U);
  EXPECT_EQ(link->counters().frames_sent, 800U);
  EXPECT_EQ(link->counters().send_errors, 0U);
}

TEST_F(tx_ring, always__few_or_short_frames_go_without) {
  const auto link = open("v0", options(ZerocopyMode::always)), other = open("v1");
  ASSERT_TRUE(link && other);
  Collector collector;
  send(*link, 3);
  send(*link, 8, 1500);
  ASSERT_TRUE(receive_until(*other, collector, 11));
  EXPECT_EQ(link->counters().ring_frames_sent, 0U);
}

// A granted socket may be of another network namespace, so no other socket is bound to its interface's index.
TEST_F(tx_ring, granted_socket__sends_all_itself) {
  const auto other = open("v1");
  const OwnFd granted = packet_socket_new();
  ASSERT_EQ(packet_socket_bind(granted.get(), ::if_nametoindex("v0")), 0);
  const Bytes one = frame(1);
  for (const bool own : {true, false}) {
    LinkCounters counters;
    TxBatch batch(32, ZerocopyMode::always, own, counters);
    for (int i = 0; i < 8; i++) {
      wire::TxFrame& tx = batch.begin(granted.get(), 1);
      tx.header_length = 32;
      std::memcpy(tx.header, one.data(), 32);
      tx.segments[0] = {const_cast<std::byte*>(one.data()) + 32, one.size() - 32};
      tx.segment_count = 1;
      batch.commit();
    }
    batch.flush(granted.get());
    Collector collector;
    ASSERT_TRUE(receive_until(*other, collector, 8));
    EXPECT_EQ(collector.frames, std::vector<Bytes>(8, one));
    EXPECT_EQ(counters.ring_frames_sent, own ? 8U : 0U);
  }
}

TEST_F(tx_ring, never__is_not_used) {
  const auto link = open("v0", options(ZerocopyMode::never)), other = open("v1");
  ASSERT_TRUE(link && other);
  expect_batches(*link, *other, 50);
  EXPECT_EQ(link->counters().ring_frames_sent, 0U);
}

TEST_F(tx_ring, automatic__tries_both) {
  const auto link = open("v0", options(ZerocopyMode::automatic)), other = open("v1");
  ASSERT_TRUE(link && other);
  expect_batches(*link, *other, ZerocopyPolicy::kFirst + 2 * ZerocopyPolicy::kSamples);
  EXPECT_EQ(link->counters().ring_frames_sent, 8 * ZerocopyPolicy::kSamples);
}

// Frames that the kernel did not take are dropped, and do not leave late.
TEST_F(tx_ring, interface_down__frames_are_dropped_and_later_ones_go) {
  const auto link = open("v0", options(ZerocopyMode::always));
  auto other = open("v1");
  ASSERT_TRUE(link && other);
  expect_batches(*link, *other, 2);
  ip("link set v0 down");
  send(*link, 8);
  EXPECT_EQ(link->counters().send_errors, 8U);
  ip("link set v0 up");
  ASSERT_TRUE(becomes_true([&] { return link->interface().refresh(); }));
  other->interface().refresh();
  expect_batches(*link, *other, 2);
}

// A driver is loaded again: the interface has another index, to which no socket of before is bound. The first
// batch notices that, and may be lost.
TEST_F(tx_ring, interface_made_again__large_frames_follow) {
  for (const ZerocopyMode mode : {ZerocopyMode::always, ZerocopyMode::never}) {
    const auto link = open("v0", options(mode)), other = open("v1");
    ASSERT_TRUE(link && other);
    SCOPED_TRACE(zerocopy_mode_name(mode));
    expect_batches(*link, *other, 2);
    const NicId near = link->interface().nic(), far = other->interface().nic();
    ip("link del v0");
    ip("link add v0 address " + mac_format(near) + " type veth peer name v1 address " + mac_format(far));
    set_mtu(9000);
    ip("link set v0 up");
    ip("link set v1 up");
    for (Transport* one : {link.get(), other.get()}) {
      EXPECT_FALSE(one->interface().refresh());
      ASSERT_EQ(one->interface().follow(), 0);
    }
    ASSERT_TRUE(becomes_true([&] { return link->interface().refresh() && other->interface().refresh(); }));
    send(*link, 8);
    Collector none;
    while (other->receive(none, 8) > 0) {
    }
    expect_batches(*link, *other, 2);
  }
}

// The ring grows with the frames.
TEST_F(tx_ring, mtu__larger_frames_get_a_larger_ring) {
  set_mtu(5000);
  const auto link = open("v0", options(ZerocopyMode::always));
  ASSERT_TRUE(link);
  send(*link, 8, 5000);
  EXPECT_EQ(link->counters().ring_frames_sent, 8U);
  set_mtu(9000);
  link->interface().refresh();
  send(*link, 8);
  EXPECT_EQ(link->counters().ring_frames_sent, 16U);
}

TEST_F(tx_ring, open__refuses_what_no_packet_holds) {
  TxRing ring;
  const OwnFd like = packet_socket_new();
  ASSERT_EQ(packet_socket_bind(like.get(), ::if_nametoindex("v0")), 0);
  EXPECT_FALSE(ring.open(like.get(), TxRing::kLargest + 1));
  EXPECT_FALSE(ring.holds(1));
  EXPECT_FALSE(ring.open(-1, kBytes));
  ASSERT_TRUE(ring.open(like.get(), TxRing::kLargest));
  EXPECT_TRUE(ring.holds(TxRing::kLargest));
  EXPECT_FALSE(ring.holds(TxRing::kLargest + 1));
  EXPECT_TRUE(ring.has_room(16));
  EXPECT_FALSE(ring.has_room(1000));
}

// Frames that are taken back leave no trace: the slots are free, and the kernel goes on where it stopped.
TEST_F(tx_ring, withdraw__frames_never_leave) {
  const auto other = open("v1");
  ASSERT_TRUE(other);
  TxRing ring;
  const OwnFd like = packet_socket_new();
  ASSERT_EQ(packet_socket_bind(like.get(), ::if_nametoindex("v0")), 0);
  ASSERT_TRUE(ring.open(like.get(), kBytes));
  const auto put = [&](Bytes& one) {
    const iovec piece{one.data(), one.size()};
    ring.put(&piece, 1);
  };
  Bytes wrong = frame(1), right = frame(2);
  for (int round = 0; round < 100; round++) {
    put(wrong);
    put(wrong);
    ring.withdraw();
    put(right);
    ASSERT_EQ(ring.send(), 1U);
    Collector collector;
    ASSERT_TRUE(receive_until(*other, collector, 1));
    ASSERT_EQ(collector.frames, std::vector<Bytes>{right});
    ASSERT_TRUE(becomes_true([&] { return ring.has_room(100); }));
  }
}

}  // namespace
}  // namespace omx::link
