// SPDX-License-Identifier: BSD-3-Clause
// Tests of batches that leave without a copy, over the loopback. There the kernel copies them when they
// arrive, and reports that.
#include <gmock/gmock.h>
#include <net/if.h>
#include <poll.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "link/udp/udp_bulk_socket.h"
#include "tests/link/ethernet/places.h"

namespace omx::link {
namespace {

constexpr std::uint32_t kMtu = 1500;
constexpr std::size_t kWhole = 65440;

class zerocopy : public testing::Test {
 protected:
  void SetUp() override {
    start(ZerocopyMode::always);
    if (from_->zerocopy_descriptor() < 0) GTEST_SKIP() << "this kernel has no MSG_ZEROCOPY for UDP";
  }
  void start(ZerocopyMode mode) {
    sent_ = received_ = {};
    const auto lo = interface_address("lo", ::if_nametoindex("lo"));
    from_ = std::make_unique<UdpBulkSocket>(UdpBulkSocket::Beside::raw_frames, mode, sent_);
    to_ = std::make_unique<UdpBulkSocket>(UdpBulkSocket::Beside::raw_frames, ZerocopyMode::never, received_);
    ASSERT_TRUE(from_->open(lo, kMtu, 0));
    ASSERT_TRUE(to_->open(lo, kMtu, 0));
  }
  void queue(const Bytes& frame, bool lasting = true, std::uint32_t cut = kMtu - 28) {
    wire::TxFrame& tx = from_->begin(to_->info().address, 1);
    tx.header_length = wire::kBulkHeader;
    std::memcpy(tx.header, frame.data(), wire::kBulkHeader);
    tx.segments[0] = {const_cast<std::byte*>(frame.data()) + wire::kBulkHeader,
                      frame.size() - wire::kBulkHeader};
    tx.segment_count = 1;
    tx.cut = cut;
    tx.lasting = lasting;
    from_->commit();
  }
  static Bytes reply(std::uint8_t number, std::size_t data = kWhole) {
    return make_reply(2, 1, number, data);
  }
  // Sends `rounds` times three frames, and expects all of them in their places.
  void send_rounds(unsigned rounds) {
    const Bytes frames[] = {reply(0), reply(1), reply(2)};
    for (unsigned round = 0; round < rounds; round++) {
      Places places(3, kWhole);
      for (const Bytes& frame : frames) queue(frame);
      from_->flush();
      std::size_t got = 0;
      ASSERT_TRUE(becomes_true([&] { return (got += to_->receive(places, 64)) >= 3; }));
      expect_all_right(places, kWhole);
      ASSERT_EQ(places.placed, 3);
    }
  }

  LinkCounters sent_, received_;
  std::unique_ptr<UdpBulkSocket> from_, to_;
};

// More batches than pages for headers, so each page is used again and again.
TEST_F(zerocopy, always__frames_arrive_whole_in_their_places) {
  send_rounds(4 * ZerocopySocket::kPages);
  EXPECT_EQ(sent_.frames_sent, 3 * 4 * ZerocopySocket::kPages);
  EXPECT_EQ(sent_.zerocopy_batches, sent_.frames_sent);
  EXPECT_EQ(sent_.zerocopy_bytes, sent_.bytes_sent);
  EXPECT_EQ(sent_.gso_batches_sent, sent_.frames_sent);
  EXPECT_EQ(sent_.send_errors, 0U);
  // The last ones are not reported yet.
  EXPECT_GE(sent_.zerocopy_copied, sent_.zerocopy_batches - ZerocopySocket::kPages);
}

// The frames of four batches wait at the receiver while their headers' memory in the batch is used again.
TEST_F(zerocopy, always__headers_outlive_their_batch) {
  std::vector<Bytes> frames;
  for (std::uint8_t n = 0; n < 4; n++) frames.push_back(reply(n));
  for (const Bytes& frame : frames) {
    queue(frame);
    from_->flush();
  }
  EXPECT_EQ(sent_.zerocopy_batches, 4U);
  Places places(4, kWhole);
  std::size_t got = 0;
  ASSERT_TRUE(becomes_true([&] { return (got += to_->receive(places, 64)) >= 4; }));
  expect_all_right(places, kWhole);
}

TEST_F(zerocopy, always__only_long_frames_of_lasting_data) {
  const Bytes longer = reply(0), shorter = reply(1, 8000), plain = reply(2, 1000);
  queue(longer, false);
  queue(shorter);
  queue(plain, true, 0);
  from_->flush();
  EXPECT_EQ(sent_.frames_sent, 3U);
  EXPECT_EQ(sent_.zerocopy_batches, 0U);
  queue(longer);
  from_->flush();
  EXPECT_EQ(sent_.zerocopy_batches, 1U);
}

// Reports wake no thread that sleeps at the path, and datagrams come to the path alone.
TEST_F(zerocopy, always__sleepers_and_arrivals_meet_no_other_socket) {
  send_rounds(8);
  pollfd looks[] = {{from_->descriptor(), POLLIN, 0}, {from_->zerocopy_descriptor(), POLLIN, 0}};
  ASSERT_TRUE(becomes_true([&] { return ::poll(looks, 2, 0) > 0; })) << "the reports of the last batches";
  EXPECT_EQ(looks[0].revents, 0);
  EXPECT_EQ(looks[1].revents, POLLERR);
  // Two sockets have the port now. What comes belongs to the first.
  const SocketAddress to = socket_address(from_->info().address.ip, from_->info().address.port, 0);
  for (int i = 0; i < 100; i++)
    ASSERT_EQ(::sendto(to_->descriptor(), "datagram", 8, 0, to.get(), to.length), 8);
  char datagram[8];
  for (int i = 0; i < 100; i++) {
    ASSERT_TRUE(becomes_true([&] { return ::recv(from_->descriptor(), datagram, 8, MSG_DONTWAIT) == 8; }))
        << i;
  }
  EXPECT_EQ(::recv(from_->zerocopy_descriptor(), datagram, 8, MSG_DONTWAIT), -1);
}

TEST_F(zerocopy, never__has_no_second_socket) {
  start(ZerocopyMode::never);
  EXPECT_EQ(from_->zerocopy_descriptor(), -1);
  send_rounds(4);
  EXPECT_EQ(sent_.zerocopy_batches, 0U);
}

// Here the kernel copies, so no more than a trial's first batches are sent so.
TEST_F(zerocopy, automatic__switches_itself_off_where_the_kernel_copies) {
  start(ZerocopyMode::automatic);
  send_rounds(200);
  EXPECT_GE(sent_.zerocopy_batches, ZerocopyPolicy::kFailuresMost);
  EXPECT_LT(sent_.zerocopy_batches, ZerocopyPolicy::kSamples);
  EXPECT_GE(sent_.zerocopy_copied, ZerocopyPolicy::kFailuresMost);
}

class zerocopy_limits : public zerocopy {
 protected:
  void SetUp() override {
    std::string reason;
    if (!network_enter(reason)) GTEST_SKIP() << reason;
    ip("link set lo up");
    zerocopy::SetUp();
    if (IsSkipped()) return;
    std::ofstream file("/proc/sys/net/core/optmem_max");
    file << 1 << std::flush;
    if (!file) GTEST_SKIP() << "net.core.optmem_max is not the namespace's own (Linux 6.9)";
  }
};

// Without memory for its reports the kernel refuses, and the batches are copied.
TEST_F(zerocopy_limits, no_memory_for_reports__batches_are_copied) {
  send_rounds(4);
  EXPECT_EQ(sent_.frames_sent, 12U);
  EXPECT_EQ(sent_.zerocopy_batches, 0U);
  EXPECT_EQ(sent_.send_errors, 0U);
}

}  // namespace
}  // namespace omx::link
