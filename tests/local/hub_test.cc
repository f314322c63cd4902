// SPDX-License-Identifier: BSD-3-Clause
// Frames between hubs: full rings, peers that end, unknown peers, garbage.
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <optional>

#include "hub_site.h"

namespace omx::local {
namespace {

TEST_F(HubTest, reaches__the_nics_of_the_host_only) {
  EXPECT_TRUE(a->reaches(frame(a.place(), b.place(), 0, 0).data()));
  EXPECT_FALSE(a->reaches(frame(a.place(), {0x020000000009, 2}, 0, 0).data()));
  EXPECT_GT(a->path(kOtherNic, 2).frame, 1514U);
  EXPECT_EQ(a->path(0x020000000009, 2).frame, 0U);
  EXPECT_GT(a->path(kNic, 2).frame, 1514U);
  EXPECT_EQ(a->path(kNic, 1).frame, 0U) << "itself";
}

TEST_F(HubTest, frames__both_ways_in_order) {
  for (std::uint64_t i = 0; i < 50; i++) {
    send(a, b, i);
    send(b, a, 1000 + i);
  }
  a.turn();
  b.turn();
  expect_frames(a, b, 0, 50);
  expect_frames(b, a, 1000, 50);
  EXPECT_EQ(a->counters().frames_sent, 50U);
  EXPECT_EQ(a->counters().frames_received, 50U);
  EXPECT_EQ(a->counters().frames_delayed + a->counters().frames_dropped, 0U);
}

TEST_F(HubTest, frames__short_ones_are_padded_as_on_the_cable) {
  const Bytes whole = frame(a.place(), b.place(), 1, 0);
  a.send(Bytes(whole.begin(), whole.begin() + 40));
  b.turn();
  ASSERT_EQ(b.frames.size(), 1U);
  EXPECT_EQ(b.frames[0].size(), wire::kMinFrame);
}

TEST_F(HubTest, frames__of_the_announced_size) {
  const std::size_t length = a->path(kOtherNic, 2).frame - frame(a.place(), b.place(), 0, 1000).size() + 1000;
  for (std::uint64_t i = 0; i < 5; i++) send(a, b, i, length);
  b.turn();
  expect_frames(a, b, 0, 5, length);
  EXPECT_EQ(a->counters().frames_delayed, 0U);
}

TEST_F(HubTest, full_ring__the_rest_waits_and_follows_in_order) {
  constexpr std::uint64_t kCount = 200;
  for (std::uint64_t i = 0; i < kCount; i++) send(a, b, i, 9000);
  EXPECT_TRUE(a->backlog());
  EXPECT_TRUE(a->pending());
  EXPECT_GT(a->counters().frames_delayed, 100U);
  b.turn();
  EXPECT_LT(b.frames.size(), kCount);
  for (int i = 0; i < 20; i++) {
    a.turn();
    b.turn();
  }
  expect_frames(a, b, 0, kCount, 9000);
  EXPECT_FALSE(a->backlog());
  EXPECT_EQ(a->counters().frames_dropped, 0U);
}

TEST_F(HubTest, nobody_there__is_told_with_the_frame) {
  const Bytes lost = frame(a.place(), {kNic, 77}, 5, 100);
  a.send(lost);
  EXPECT_TRUE(a->pending());
  EXPECT_FALSE(a->fall_asleep());
  a.turn();
  ASSERT_EQ(a.refused.size(), 1U);
  EXPECT_EQ(a.refused[0], lost);
  EXPECT_EQ(a->counters().frames_dropped, 1U);
  a.turn();
  EXPECT_EQ(a.refused.size(), 1U);
}

TEST_F(HubTest, gone__is_told_once_after_the_last_frame) {
  send(a, b, 1);
  b.turn();
  expect_frames(a, b, 1, 1);
  send(a, b, 2);
  a.close();
  b->tick(b);
  EXPECT_TRUE(b.gone.empty()) << "a frame is still to be read";
  b.turn();
  expect_frames(a, b, 2, 1);
  b.turn();
  ASSERT_EQ(b.gone.size(), 1U);
  EXPECT_EQ(b.gone[0], a.place());
  b.turn();
  EXPECT_EQ(b.gone.size(), 1U);
}

TEST_F(HubTest, gone__a_successor_is_reached_by_the_next_frame) {
  auto old = std::make_unique<Site>(Place{kNic, 3});
  send(a, *old, 1);
  old->turn();
  expect_frames(a, *old, 1, 1);
  old.reset();
  a.turn();
  Site next({kNic, 3});
  send(a, next, 2);
  next.turn();
  expect_frames(a, next, 2, 1);
}

TEST_F(HubTest, sleep__the_writer_notifies_once) {
  send(a, b, 1);
  b.turn();
  EXPECT_TRUE(b->fall_asleep());
  send(a, b, 2);
  send(a, b, 3);
  EXPECT_EQ(a->counters().notifies, 1U);
  EXPECT_FALSE(b->fall_asleep());
  b->wake_up();
  send(a, b, 4);
  EXPECT_EQ(a->counters().notifies, 1U);
}

// The flags of a ring may be wrong about a sleep. A byte wakes the reader all the same.
TEST_F(HubTest, sleep__a_reader_that_reads_nothing_is_woken_again) {
  send(a, b, 1);
  b.turn();
  EXPECT_TRUE(b->fall_asleep());
  b->wake_up();  // the flags say so, but the thread sleeps
  send(a, b, 2);
  EXPECT_EQ(a->counters().notifies, 0U);
  EXPECT_TRUE(a->unread(b.place().nic, b.place().endpoint));
  a->wake_reader(b.place().nic, b.place().endpoint);
  EXPECT_EQ(a->counters().notifies, 1U);
  b.turn();
  EXPECT_FALSE(a->unread(b.place().nic, b.place().endpoint));
  expect_frames(a, b, 1, 2);
}

TEST_F(HubTest, sleep__ends_when_an_unknown_peer_says_who_it_is) {
  EXPECT_FALSE(wakes(b));
  OwnFd connection = socket_to(b.place());
  EXPECT_TRUE(wakes(b));
  b.turn();
  EXPECT_FALSE(wakes(b)) << "it has said nothing yet";
  const SharedMemory memory = SharedMemory::create(ring_memory(kRingBytes));
  ASSERT_TRUE(hello_send(connection.get(), hello_of({kNic, 5}), memory.descriptor()));
  EXPECT_TRUE(wakes(b));
  b.turn();
  EXPECT_FALSE(wakes(b));
  EXPECT_FALSE(hung_up(connection)) << "let in";
  connection.reset();
  EXPECT_TRUE(wakes(b));
}

// --- unknown peers
// -----------------------------------------------------------------------------------------

TEST_F(HubTest, unknown_peers__who_say_nothing_are_kept_while_few) {
  const OwnFd silent = socket_to(b.place());
  for (int i = 0; i < 5; i++) b.turn();
  EXPECT_FALSE(hung_up(silent));
  send(a, b, 1);
  b.turn();
  expect_frames(a, b, 1, 1);
  EXPECT_TRUE(b.gone.empty());
}

TEST_F(HubTest, unknown_peers__who_look_and_hang_up_leave_nothing) {
  for (int i = 0; i < 100; i++) socket_to(b.place());
  b.turn();
  b.turn();
  const OwnFd next(::dup(STDIN_FILENO));
  EXPECT_LT(next.get(), 50);
}

TEST_F(HubTest, unknown_peers__beyond_the_bound_the_oldest_is_sent_away) {
  std::vector<OwnFd> unknown_peers;
  for (int i = 0; i < 200; i++) {
    unknown_peers.push_back(socket_to(b.place()));
    ASSERT_TRUE(unknown_peers.back().open()) << i;
  }
  for (int i = 0; i < 10; i++) b.turn();
  int away = 0;
  for (const OwnFd& unknown_peer : unknown_peers) away += hung_up(unknown_peer);
  EXPECT_EQ(away, 200 - 64);
  EXPECT_TRUE(hung_up(unknown_peers.front()));
  EXPECT_FALSE(hung_up(unknown_peers.back()));
  send(a, b, 1);
  b.turn();
  expect_frames(a, b, 1, 1);
}

TEST_F(HubTest, unknown_peers__rubbish_ends_the_connection) {
  std::vector<OwnFd> unknown_peers;
  for (const std::size_t length : {std::size_t{1}, sizeof(Hello) - 1, sizeof(Hello), std::size_t{5000}}) {
    Bytes rubbish(length);
    random_fill(rubbish, length);
    unknown_peers.push_back(socket_to(b.place()));
    ASSERT_EQ(::send(unknown_peers.back().get(), rubbish.data(), length, 0), static_cast<ssize_t>(length));
  }
  b.turn();
  for (std::size_t i = 0; i < unknown_peers.size(); i++) {
    char byte;
    const ssize_t got = ::recv(unknown_peers[i].get(), &byte, 1, MSG_DONTWAIT);
    // Data that were not read reset the connection.
    EXPECT_TRUE(got == 0 || (got < 0 && errno == ECONNRESET)) << i;
  }
  EXPECT_TRUE(b.gone.empty());
}

TEST_F(HubTest, unknown_peers__hellos_that_lie_are_not_let_in) {
  const Place place{kNic, 5};
  Hello hello = hello_of(place);
  std::vector<Raw> raws;
  hello.magic++;
  raws.push_back(raw(b, hello));
  hello = hello_of(place);
  hello.version++;
  raws.push_back(raw(b, hello));
  hello = hello_of(place);
  hello.ring_bytes *= 2;
  raws.push_back(raw(b, hello));
  hello = hello_of(place);
  hello.endpoint = 256;
  raws.push_back(raw(b, hello));
  hello = hello_of({0x020000000009, 5});  // a NIC of another host
  raws.push_back(raw(b, hello));
  raws.push_back(raw(b, hello_of(place), ring_memory(kRingBytes) / 2));
  // The size of this memory could shrink.
  Raw loose{socket_to(b.place()), {}};
  OwnFd fd(::memfd_create("omx hub test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(fd.get(), static_cast<off_t>(ring_memory(kRingBytes))), 0);
  ASSERT_TRUE(hello_send(loose.connection.get(), hello_of(place), fd.get()));
  raws.push_back(std::move(loose));
  b.turn();
  for (std::size_t i = 0; i < raws.size(); i++) EXPECT_TRUE(hung_up(raws[i].connection)) << i;
  // The peer that does not lie is let in.
  const Raw good = raw(b, hello_of(place));
  b.turn();
  EXPECT_FALSE(hung_up(good.connection));
}

// Out-of-band data make a socket readable without anything to read.
TEST_F(HubTest, unknown_peers__a_byte_out_of_band_wakes_once) {
  const OwnFd unknown_peer = socket_to(b.place());
  if (::send(unknown_peer.get(), "x", 1, MSG_OOB) < 0) GTEST_SKIP() << "this kernel has none on such sockets";
  for (int i = 0; i < 3; i++) b.turn();
  EXPECT_FALSE(wakes(b));
}

// Makes this process another user's while the object lives.
class AsNobody {
 public:
  AsNobody() : done_(::seteuid(65534) == 0) {}
  ~AsNobody() { EXPECT_TRUE(!done_ || ::seteuid(0) == 0); }

 private:
  bool done_;
};

TEST_F(HubTest, unknown_peers__of_other_users_are_not_let_in) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  std::optional<AsNobody> nobody(std::in_place);
  const OwnFd connection = socket_to(b.place());
  const OwnFd silent = socket_to(b.place());
  nobody.reset();
  const SharedMemory memory = SharedMemory::create(ring_memory(kRingBytes));
  ASSERT_TRUE(hello_send(connection.get(), hello_of({kNic, 5}), memory.descriptor()));
  b.turn();
  EXPECT_TRUE(hung_up(silent));
  char byte;
  const ssize_t got = ::recv(connection.get(), &byte, 1, MSG_DONTWAIT);
  EXPECT_TRUE(got == 0 || (got < 0 && errno != EAGAIN)) << got;
}

TEST_F(HubTest, unknown_peers__who_took_an_endpoints_name_are_sent_nothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  std::optional<AsNobody> nobody(std::in_place);
  Site other({kNic, 30});
  nobody.reset();
  testing::internal::CaptureStderr();
  send(a, other, 1);
  send(a, other, 2);
  other.turn();
  EXPECT_TRUE(other.frames.empty());
  EXPECT_EQ(a->counters().frames_dropped, 2U);
  a.turn();
  EXPECT_EQ(a.refused.size(), 2U) << "nobody who could be reached is there";
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_THAT(told, testing::HasSubstr("endpoint 30 of this host belongs to process"));
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
}

// The other user's process sends to root's. Only root can see that the process is not let in.
TEST_F(HubTest, unknown_peers__of_other_users_are_told_of_once) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  testing::internal::CaptureStderr();
  const SharedMemory memory = SharedMemory::create(ring_memory(kRingBytes));
  std::vector<OwnFd> connections;
  for (int i = 0; i < 3; i++) {
    std::optional<AsNobody> nobody(std::in_place);
    connections.push_back(socket_to(b.place()));
    nobody.reset();
    // The first process only tests whether the endpoint is open.
    if (i == 0) continue;
    ASSERT_TRUE(hello_send(connections.back().get(), hello_of({kNic, 5}), memory.descriptor()));
    b.turn();
  }
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_THAT(told, testing::HasSubstr("of user 65534 is not let in, as endpoint 2"));
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
}

TEST_F(HubTest, unknown_peers__of_another_version_are_told_of_once) {
  testing::internal::CaptureStderr();
  Hello hello = hello_of({kNic, 5});
  hello.version++;
  const Raw first = raw(b, hello), second = raw(b, hello);
  b.turn();
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_THAT(told, testing::HasSubstr("another version of Open-MX"));
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
}

TEST_F(HubTest, unknown_peers__one_who_takes_a_peers_place_ends_it) {
  send(a, b, 1);
  b.turn();
  const Raw other = raw(b, hello_of(a.place()));
  b.turn();
  b.turn();
  EXPECT_TRUE(b.gone.empty()) << "the place is taken: its new holder says who it is";
  a.turn();
  send(a, b, 2);  // by a new connection
  b.turn();
  EXPECT_EQ(b.frames.size(), 2U);
}

// --- garbage in the ring
// -----------------------------------------------------------------------------------

TEST_F(HubTest, rubbish_in_the_ring__ends_that_peer_only) {
  const Place place{kNic, 6};
  for (std::uint64_t seed = 0; seed < 200; seed++) {
    const Raw peer = raw(b, hello_of(place));
    random_fill(std::span(peer.memory.data(), ring_memory(kRingBytes)), seed);
    send(a, b, seed);
    for (int i = 0; i < 4; i++) b.turn();
    // The ring may hold frames that name this place, but none of another.
    Bytes honest = frame(a.place(), b.place(), seed, 100);
    EXPECT_EQ(std::count(b.frames.begin(), b.frames.end(), honest), 1) << seed;
    b.frames.clear();
  }
  EXPECT_THAT(b.gone, testing::Each(place));
  EXPECT_FALSE(b.gone.empty());
}

TEST_F(HubTest, rubbish_in_the_ring__a_length_without_a_kind) {
  const Place place{kNic, 6};
  const Raw peer = raw(b, hello_of(place));
  const std::uint32_t word = 100;
  std::memcpy(peer.memory.data() + kRecordsAt, &word, sizeof word);
  for (int i = 0; i < 3; i++) b.turn();
  EXPECT_TRUE(hung_up(peer.connection));
  EXPECT_TRUE(b->fall_asleep());
}

// Every word is valid, and the first follows the last.
class EndlessRing : public HubTest {
 protected:
  static void fill(const SharedMemory& memory, Kind kind) {
    const std::uint32_t word = static_cast<std::uint32_t>(kind) << 24 | (kLine - 4);
    for (std::size_t at = 0; at < kRingBytes; at += kLine)
      std::memcpy(memory.data() + kRecordsAt + at, &word, sizeof word);
  }
};

TEST_F(EndlessRing, rubbish_in_the_ring__is_read_in_portions) {
  for (const Kind kind : {Kind::frame, Kind::regions, static_cast<Kind>(9)}) {
    const Raw peer = raw(b, hello_of({kNic, 6}));
    b.turn();
    fill(peer.memory, kind);
    send(a, b, 1);
    b.turn();  // the turn must end
    expect_frames(a, b, 1, 1);
  }
}

TEST_F(EndlessRing, gone__who_left_more_than_a_ring_holds_ends) {
  Raw peer = raw(b, hello_of({kNic, 6}));
  b.turn();
  fill(peer.memory, Kind::frame);
  peer.connection.reset();
  for (int i = 0; i < 20; i++) b.turn();
  ASSERT_EQ(b.gone.size(), 1U);
  EXPECT_TRUE(b->fall_asleep());
}

TEST_F(HubTest, rubbish_in_the_ring__frames_of_others_and_regions_that_lie) {
  const Place place{kNic, 6};
  const Raw peer = raw(b, hello_of(place));
  RingWriter writer(peer.memory.data(), kRingBytes);
  const auto put = [&](Kind kind, const Bytes& bytes) {
    const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
    ASSERT_TRUE(writer.put(kind, {&piece, 1}));
  };
  put(Kind::frame, frame({kOtherNic, 6}, b.place(), 1, 100));  // from another NIC
  put(Kind::frame, frame({kNic, 7}, b.place(), 1, 100));       // from another endpoint of the NIC
  put(Kind::frame, Bytes(20));                                 // too short for a head
  put(Kind::regions, Bytes(3));
  put(Kind::regions, {std::byte{1}, std::byte{1}, std::byte{200}, std::byte{0}, std::byte{0}, std::byte{0},
                      std::byte{0}, std::byte{0}});  // names 200 pieces, and has none
  put(static_cast<Kind>(9), Bytes(10));
  put(Kind::frame, frame(place, b.place(), 2, 100));
  b.turn();
  ASSERT_EQ(b.frames.size(), 1U);
  EXPECT_EQ(b.frames[0], frame(place, b.place(), 2, 100));
  std::byte out[16];
  const protocol::Segment to{out, sizeof out};
  EXPECT_FALSE(b->read(place.nic, place.endpoint, 1, 1, 0, {&to, 1}, sizeof out));
}

}  // namespace
}  // namespace omx::local
