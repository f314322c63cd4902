// SPDX-License-Identifier: BSD-3-Clause
// Tests of wake-up sockets of endpoints that share a hook. The wake-up sockets share another hook.
#include "link/fanout/fanout_wakeup.h"

#include "fanout_neighbours.h"
#include "link/fanout/fanout_group.h"
#include "wire/packets.h"

namespace omx::link {
namespace {

class fanout_wakeup : public FanoutTest {
 protected:
  static bool notified(const Transport& link) {
    pollfd look{link.wakeup()->descriptor(), POLLIN, 0};
    return ::poll(&look, 1, 0) == 1 && (look.revents & POLLIN);
  }
  // Waits until a thread could sleep by the wake-up socket, as an endpoint's would.
  static void wakeup_await(Transport& link) {
    ASSERT_TRUE(becomes_true([&] { return link.wakeup()->open(); }));
    ASSERT_GE(link.wakeup()->descriptor(), 0);
  }
  static void medium_send(Transport& from, const Transport& to, std::uint8_t endpoint, bool urgent) {
    Bytes frame = make_frame(to.interface().nic(), from.interface().nic(), 100, kMedium, endpoint);
    frame[19] = static_cast<std::byte>(urgent ? wire::kFlagUrgent : 0);
    frame_send(from, frame);
  }
};

std::uint32_t wakeups_of(const Transport& link) {
  std::uint32_t group = 0;
  socklen_t size = sizeof group;
  EXPECT_EQ(::getsockopt(link.wakeup()->descriptor(), SOL_PACKET, PACKET_FANOUT, &group, &size), 0);
  return group;
}

TEST_F(fanout_wakeup, members__each_is_woken_by_its_own_solicited_frames) {
  auto a = open("v0");
  std::vector<std::unique_ptr<Transport>> links;
  for (unsigned e = 0; e < 6; e++) {
    links.push_back(open("v1", shared(e)));
    ASSERT_NO_FATAL_FAILURE(wakeup_await(*links.back()));
  }
  for (const auto& link : links) {
    EXPECT_NE(wakeups_of(*link), 0U);
    EXPECT_EQ(wakeups_of(*link), wakeups_of(*links[0])) << "one hook for all";
    EXPECT_NE(wakeups_of(*link), group_of(*link));
  }
  for (unsigned e = 0; e < 6; e++) {
    Transport& to = *links[e];
    Collector got;
    medium_send(*a, to, static_cast<std::uint8_t>(e), false);
    ASSERT_TRUE(receive_until(to, got, 1));
    for (const auto& link : links) EXPECT_FALSE(notified(*link));
    medium_send(*a, to, static_cast<std::uint8_t>(e), true);
    ASSERT_TRUE(receive_until(to, got, 2));
    for (unsigned other = 0; other < 6; other++) EXPECT_EQ(notified(*links[other]), other == e) << other;
    to.wakeup()->clear();
    EXPECT_FALSE(notified(to));
  }
}

TEST_F(fanout_wakeup, closed_and_killed__the_next_takes_it_silent) {
  auto a = open("v0");
  auto stays = open("v1", shared(1));
  ASSERT_NO_FATAL_FAILURE(wakeup_await(*stays));
  auto goes = open("v1", shared(2));
  ASSERT_NO_FATAL_FAILURE(wakeup_await(*goes));
  const int sockets = packet_sockets();
  for (unsigned e = 3; e < 8; e++) {
    medium_send(*a, *goes, static_cast<std::uint8_t>(e - 1), true);
    ASSERT_TRUE(becomes_true([&] { return notified(*goes); }));
    goes.reset();
    goes = open("v1", shared(e));
    ASSERT_NO_FATAL_FAILURE(wakeup_await(*goes));
    EXPECT_EQ(packet_sockets(), sockets) << "a new one was made";
    EXPECT_FALSE(notified(*goes));
  }
  medium_send(*a, *stays, 1, true);
  ASSERT_TRUE(becomes_true([&] { return notified(*stays); }));
  EXPECT_FALSE(notified(*goes));
}

TEST_F(fanout_wakeup, interface_down_and_up__solicited_frames_wake_where_they_did) {
  auto a = open("v0");
  std::vector<std::unique_ptr<Transport>> links;
  for (unsigned e = 0; e < 4; e++) {
    links.push_back(open("v1", shared(e)));
    ASSERT_NO_FATAL_FAILURE(wakeup_await(*links.back()));
  }
  ip("link set v1 down");
  set_mtu(1500);
  for (const auto& link : links) ASSERT_TRUE(becomes_true([&] { return link->interface().refresh(); }));
  for (unsigned e = 0; e < 4; e++) {
    medium_send(*a, *links[e], static_cast<std::uint8_t>(e), true);
    ASSERT_TRUE(becomes_true([&] { return notified(*links[e]); }));
    for (unsigned other = 0; other < 4; other++) EXPECT_EQ(notified(*links[other]), other == e) << other;
    links[e]->wakeup()->clear();
  }
}

TEST_F(fanout_wakeup, larger_mtu__a_wakeup_socket_of_its_own) {
  auto a = open("v0");
  auto link = open("v1", shared(1));
  ASSERT_NO_FATAL_FAILURE(wakeup_await(*link));
  set_mtu(9000);
  ASSERT_TRUE(link->interface().refresh());
  ASSERT_TRUE(link->wakeup()->open());
  EXPECT_EQ(wakeups_of(*link), 0U);
  medium_send(*a, *link, 1, true);
  EXPECT_TRUE(becomes_true([&] { return notified(*link); }));
}

// The socket is closed while the keeper makes it, or before.
TEST_F(fanout_wakeup, closed_at_once__nothing_is_left_behind) {
  auto stays = open("v1", shared(1));
  ASSERT_NO_FATAL_FAILURE(wakeup_await(*stays));
  for (unsigned round = 0; round < 20; round++) {
    auto goes = open("v1", shared(2));
    goes->wakeup()->open();
    ::poll(nullptr, 0, static_cast<int>(round));
  }
  stays.reset();
  EXPECT_EQ(packet_sockets(), 0);
}

// There are more sockets than one kernel fanout group may have.
TEST_F(fanout_wakeup, many_endpoints__each_has_a_member_and_a_wakeup_socket) {
  auto a = open("v0");
  std::vector<std::unique_ptr<Transport>> links;
  std::map<unsigned, Transport*> all;
  for (unsigned e = 0; e < 140; e++) {
    links.push_back(open("v1", shared(e)));
    all[e] = links.back().get();
    links.back()->wakeup()->open();
  }
  EXPECT_EQ(hooks_of(all), 1U);
  for (const auto& link : links) ASSERT_NO_FATAL_FAILURE(wakeup_await(*link));
  expect_own_frames(*a, all);
  for (unsigned e : {0U, 77U, 139U}) {
    medium_send(*a, *links[e], static_cast<std::uint8_t>(e), true);
    EXPECT_TRUE(becomes_true([&] { return notified(*links[e]); }));
  }
}

}  // namespace
}  // namespace omx::link
