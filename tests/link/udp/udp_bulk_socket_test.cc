// SPDX-License-Identifier: BSD-3-Clause
// Tests of GSO batches of frames by UDP, over the loopback, where no privileges are needed.
#include "link/udp/udp_bulk_socket.h"

#include <gmock/gmock.h>
#include <net/if.h>

#include "link/udp/udp_link.h"
#include "tests/link/ethernet/places.h"

namespace omx::link {
namespace {

constexpr std::uint32_t kMtu = 1500;
constexpr std::size_t kData = kMtu - 28 - wire::kBulkHeader;

class udp_bulk : public testing::Test {
 protected:
  void SetUp() override {
    index_ = ::if_nametoindex("lo");
    ASSERT_TRUE(from_.open(interface_address("lo", index_), kMtu, 0));
    ASSERT_TRUE(to_.open(interface_address("lo", index_), kMtu, 0));
  }
  void queue(const Bytes& frame, const UdpBulkSocket& to, std::uint32_t cut = 0) {
    wire::TxFrame& tx = from_.begin(to.info().address, 2);
    tx.header_length = wire::kBulkHeader;
    std::memcpy(tx.header, frame.data(), wire::kBulkHeader);
    // The data are in two pieces, as an application's memory may be.
    const std::size_t half = (frame.size() - wire::kBulkHeader) / 2;
    auto* data = const_cast<std::byte*>(frame.data()) + wire::kBulkHeader;
    tx.segments[0] = {data, half};
    tx.segments[1] = {data + half, frame.size() - wire::kBulkHeader - half};
    tx.segment_count = 2;
    tx.cut = cut;
    from_.commit();
  }
  void queue(const Bytes& frame) { queue(frame, to_); }
  void queue_whole(const Bytes& frame) { queue(frame, to_, kMtu - 28); }
  void flush() { from_.flush(); }
  std::size_t receive(BulkHandler& handler, std::size_t frames) {
    std::size_t got = 0;
    const bool all = becomes_true([&] { return (got += to_.receive(handler, 64)) >= frames; });
    EXPECT_TRUE(all) << got;
    return got;
  }
  void ignore(BulkHandler& handler, std::uint64_t frames) {
    EXPECT_TRUE(becomes_true([&] {
      to_.receive(handler, 64);
      return received_.frames_ignored >= frames;
    }));
    EXPECT_EQ(received_.frames_ignored, frames);
  }
  static Bytes reply(std::uint8_t number, std::size_t data = kData) { return make_reply(2, 1, number, data); }

  unsigned index_ = 0;
  LinkCounters sent_, received_;
  UdpBulkSocket from_{UdpBulkSocket::Beside::raw_frames, ZerocopyMode::never, sent_},
      to_{UdpBulkSocket::Beside::raw_frames, ZerocopyMode::never, received_};
};

TEST_F(udp_bulk, gso_batch__passes_in_one_call_into_place) {
  Places places(44, kData);
  std::vector<Bytes> frames;
  for (std::uint8_t n = 0; n < 44; n++) frames.push_back(reply(n));
  for (const Bytes& frame : frames) queue(frame);
  flush();
  EXPECT_EQ(receive(places, 44), 44U);
  expect_all_right(places, kData);
  EXPECT_EQ(places.placed, 44);
  EXPECT_EQ(sent_.send_calls, 1U);
  EXPECT_EQ(sent_.frames_sent, 44U);
  EXPECT_EQ(received_.receive_batches, 1U);
  EXPECT_EQ(received_.frames_received, 44U);
}

TEST_F(udp_bulk, gso_batch__the_last_may_be_shorter) {
  Places places(10, kData, 17);
  std::vector<Bytes> frames;
  for (std::uint8_t n = 0; n < 10; n++) frames.push_back(reply(n, places.length(n)));
  for (const Bytes& frame : frames) queue(frame);
  flush();
  receive(places, 10);
  expect_all_right(places, kData);
  EXPECT_EQ(places.placed, 10);
  EXPECT_EQ(sent_.gso_batches_sent, 1U);
}

// A frame that does not fit a GSO batch begins another. It is longer, comes behind a shorter one, or goes to
// another receiver. A batch also ends at the limits of bytes per datagram and of frames per call.
TEST_F(udp_bulk, gso_batch__ends_where_it_must) {
  const auto sends = [&](const std::vector<std::size_t>& sizes) {
    const auto before = sent_.send_calls;
    std::vector<Bytes> frames;
    for (const std::size_t size : sizes) frames.push_back(reply(200, size));
    for (const Bytes& frame : frames) queue(frame);
    flush();
    Places none(1, 1);
    receive(none, sizes.size());
    EXPECT_EQ(none.moved, frames);
    return sent_.send_calls - before;
  };
  EXPECT_EQ(sends({500, 500, 500}), 1U);
  EXPECT_EQ(sends({500, 600}), 2U);
  EXPECT_EQ(sends({500, 400, 500}), 2U);
  EXPECT_EQ(sends({500, 400, 400, 400}), 2U);
  EXPECT_EQ(sends(std::vector<std::size_t>(44, kData)), 1U);
  EXPECT_EQ(sends(std::vector<std::size_t>(45, kData)), 2U);
  EXPECT_EQ(sends(std::vector<std::size_t>(64, 100)), 1U);
  EXPECT_EQ(sends(std::vector<std::size_t>(65, 100)), 2U);
  EXPECT_EQ(sends(std::vector<std::size_t>(300, 100)), 5U);
}

TEST_F(udp_bulk, gso_batch__of_several_receivers) {
  UdpBulkSocket other(UdpBulkSocket::Beside::raw_frames, ZerocopyMode::never, received_);
  ASSERT_TRUE(other.open(interface_address("lo", index_), kMtu, 0));
  const Bytes frame = reply(3);
  queue(frame);
  queue(frame, other);
  queue(frame);
  flush();
  Places none(1, 1), none_either(1, 1);
  receive(none, 2);
  EXPECT_TRUE(becomes_true([&] { return other.receive(none_either, 1) == 1; }));
  EXPECT_EQ(none.moved.size(), 2U);
  EXPECT_EQ(none_either.moved, std::vector<Bytes>{frame});
}

TEST_F(udp_bulk, order__each_swap_is_put_right) {
  for (unsigned seed = 1; seed <= 40; seed++) {
    Places places(40, kData, seed % 2 ? kData : 100 + seed);
    std::vector<Bytes> frames;
    for (std::uint8_t n = 0; n < 40; n++) frames.push_back(reply(n, places.length(n)));
    std::srand(seed);
    for (unsigned swaps = 0; swaps < seed; swaps++)
      std::swap(frames[static_cast<std::size_t>(std::rand()) % 40],
                frames[static_cast<std::size_t>(std::rand()) % 40]);
    frames.push_back(frames[seed % 40]);  // and one comes twice
    for (const Bytes& frame : frames) queue(frame);
    flush();
    receive(places, frames.size());
    expect_all_right(places, kData);
  }
}

// Frames of other sizes than expected, or without a place, are handed over whole, and do no harm.
TEST_F(udp_bulk, others__are_put_together_again) {
  Places places(8, kData);
  const std::vector<Bytes> frames{reply(100, 28),  reply(0), reply(101, 1400),
                                  reply(102, 400), reply(1), reply(103, 8)};
  for (const Bytes& frame : frames) queue(frame);
  flush();
  receive(places, frames.size());
  std::vector<Bytes> moved;
  for (const Bytes& frame : places.moved) {
    if (Places::number(frame) >= 100) moved.push_back(frame);
  }
  EXPECT_THAT(moved, testing::UnorderedElementsAre(frames[0], frames[2], frames[3], frames[5]));
  EXPECT_TRUE(places.got[0] && places.got[1]);
  const Bytes first = reply(0);
  EXPECT_EQ(std::memcmp(places.memory.data(), first.data() + wire::kBulkHeader, kData), 0);
}

TEST_F(udp_bulk, nonsense__is_counted_and_dropped) {
  const SocketAddress to = socket_address(to_.info().address.ip, to_.info().address.port, index_);
  const char short_one[3] = {};
  ASSERT_EQ(::sendto(from_.descriptor(), short_one, sizeof short_one, 0, to.get(), to.length), 3);
  ASSERT_EQ(::sendto(from_.descriptor(), short_one, 0, 0, to.get(), to.length), 0);
  Places none(4, kData);
  ignore(none, 2);
  EXPECT_TRUE(none.moved.empty());
}

TEST_F(udp_bulk, unknown_peers__are_counted_and_dropped) {
  Places places(2, kData);
  const Bytes right = reply(0), forged = make_reply(2, 7, 1, kData);
  queue(right);
  queue(forged);
  flush();
  ignore(places, 1);
  EXPECT_TRUE(places.got[0]);
  EXPECT_FALSE(places.got[1]) << "another NIC's than the path's owner";
  places.unknown_peer = from_.info().address.port;
  const Bytes late = reply(1);
  queue(late);
  flush();
  ignore(places, 2);
  EXPECT_FALSE(places.got[1]);
}

// The path belongs to an endpoint. Others of its NIC may be another user's, and send datagrams, too.
TEST_F(udp_bulk, other_endpoints__of_the_same_nic_are_counted_and_dropped) {
  Places places(4, kData);
  Bytes frames[] = {reply(0), reply(1), reply(2, 100), reply(3)};
  frames[0][14] = std::byte{4};
  frames[1][14] = std::byte{0};
  frames[2][16] = std::byte{39};  // a MEDIUM
  frames[2][18] = std::byte{4};
  for (const Bytes& frame : frames) queue(frame);
  flush();
  ignore(places, 3);
  EXPECT_TRUE(becomes_true([&] { return to_.receive(places, 64), places.got[3]; }));
  EXPECT_FALSE(places.got[0] || places.got[1] || places.got[2]);
  EXPECT_TRUE(places.moved.empty() || places.moved == std::vector<Bytes>{frames[3]});
}

TEST_F(udp_bulk, gso_frame__passes_whole_into_place) {
  constexpr std::size_t kWhole = 65440;
  Places places(3, kWhole, 5000);
  const Bytes frames[] = {reply(0, kWhole), reply(1, kWhole), reply(2, 5000)};
  for (const Bytes& frame : frames) queue_whole(frame);
  flush();
  EXPECT_EQ(receive(places, 3), 3U);
  expect_all_right(places, kWhole);
  EXPECT_EQ(places.placed, 3);
  EXPECT_EQ(sent_.send_calls, 3U);
  EXPECT_EQ(sent_.gso_batches_sent, 3U);
}

TEST_F(udp_bulk, gso_frame__passes_without_a_place_and_between_others) {
  Places none(1, 1);
  const std::vector<Bytes> frames = {reply(1), reply(2, 60000), reply(3)};
  queue(frames[0]);
  queue_whole(frames[1]);
  queue(frames[2]);
  flush();
  receive(none, 3);
  EXPECT_EQ(none.moved, frames);
}

// Datagrams behind the first one are data, even if they look like frames.
TEST_F(udp_bulk, gso_frame__of_a_cut_one_nothing_else_is_taken_for_a_frame) {
  Bytes longer = reply(1, 60000);
  const Bytes forged = reply(7);
  std::memcpy(longer.data() + kMtu - 28, forged.data(), forged.size());
  longer.resize(10 * (kMtu - 28));
  for (const std::size_t place : {std::size_t{1}, std::size_t{60000}}) {
    Places places(2, place);
    queue_whole(longer);
    flush();
    receive(places, 1);
    EXPECT_EQ(places.moved, std::vector<Bytes>{longer})
        << "as it came, for the engine to see that it was cut";
    EXPECT_EQ(places.placed, 0);
  }
}

TEST_F(udp_bulk, nobody_listens__the_frames_are_lost_and_the_next_ones_go) {
  UdpBulkSocket gone(UdpBulkSocket::Beside::raw_frames, ZerocopyMode::never, received_);
  ASSERT_TRUE(gone.open(interface_address("lo", index_), kMtu, 0));
  const wire::BulkAddress address = gone.info().address;
  gone.~UdpBulkSocket();
  new (&gone) UdpBulkSocket(UdpBulkSocket::Beside::raw_frames, ZerocopyMode::never, received_);
  const Bytes frame = reply(1);
  wire::TxFrame& tx = from_.begin(address, 0);
  tx.header_length = wire::kBulkHeader;
  std::memcpy(tx.header, frame.data(), wire::kBulkHeader);
  from_.commit();
  flush();
  queue(frame);
  flush();
  Places none(1, 1);
  receive(none, 1);
  EXPECT_EQ(none.moved, std::vector<Bytes>{frame});
}

TEST_F(udp_bulk, open__needs_an_address) {
  UdpBulkSocket bulk(UdpBulkSocket::Beside::raw_frames, ZerocopyMode::never, received_);
  EXPECT_FALSE(bulk.open(interface_address("no such one", 77), kMtu, 0));
  EXPECT_FALSE(bulk.info().address.present());
}

TEST_F(udp_bulk, open__says_where_it_is) {
  const BulkInfo info = to_.info();
  EXPECT_EQ(info.address.frame, kMtu - 28);
  EXPECT_EQ(info.network_bits, 96U + 8U);
  EXPECT_GT(info.window, 64U << 10);
  UdpBulkSocket second(UdpBulkSocket::Beside::raw_frames, ZerocopyMode::never, received_);
  EXPECT_FALSE(second.open(interface_address("lo", index_), kMtu, info.address.port)) << "the port is taken";
}

}  // namespace
}  // namespace omx::link
