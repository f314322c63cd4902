// SPDX-License-Identifier: BSD-3-Clause
// Interfaces that go down, come back, vanish or change under an open link.
#include <gmock/gmock.h>
#include <net/if.h>

#include "base/log.h"
#include "tests/support/test_network.h"

namespace omx::link {
namespace {

class packet_link_outage : public CableTest {};

TEST_F(packet_link_outage, down_and_up__continues) {
  auto a = open("v0");
  auto b = open("v1");
  const Bytes frame = make_frame(b->interface().nic(), a->interface().nic(), 60);
  ip("link set v0 down");
  EXPECT_FALSE(a->interface().refresh());
  for (int i = 0; i < 3; i++) frame_queue(*a, frame);
  a->flush();
  EXPECT_EQ(a->counters().frames_sent, 0U);
  EXPECT_EQ(a->counters().send_errors, 3U);
  Collector got;
  EXPECT_EQ(a->receive(got, 10), 0U);

  ip("link set v0 up");
  EXPECT_TRUE(becomes_true([&] { return a->interface().refresh() && b->interface().refresh(); }));
  frame_send(*a, frame);
  ASSERT_TRUE(receive_until(*b, got, 1));
  frame_send(*b, make_frame(a->interface().nic(), b->interface().nic(), 60));
  EXPECT_TRUE(receive_until(*a, got, 2));
}

TEST_F(packet_link_outage, down_and_up_unseen__the_first_frame_leaves) {
  auto a = open("v0");
  auto b = open("v1");
  ip("link set v0 down");
  ip("link set v0 up");
  EXPECT_TRUE(becomes_true([&] { return b->interface().refresh(); }));
  // The socket still holds ENETDOWN, because the test did not call a->interface().refresh().
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 60));
  EXPECT_EQ(a->counters().send_errors, 0U);
  Collector got;
  EXPECT_TRUE(receive_until(*b, got, 1));
}

TEST_F(packet_link_outage, down__refresh_silences_the_descriptor) {
  auto a = open("v0");
  ip("link set v0 down");
  pollfd waiting{a->descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 1);
  EXPECT_TRUE(waiting.revents & POLLERR);
  EXPECT_FALSE(a->interface().refresh());
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
}

TEST_F(packet_link_outage, down__refresh_silences_the_wakeup_socket_too) {
  auto a = open("v0");
  ASSERT_TRUE(a->wakeup()->open());
  ip("link set v0 down");
  pollfd waiting{a->wakeup()->descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 1);
  EXPECT_FALSE(a->interface().refresh());
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
}

TEST_F(packet_link_outage, down_at_open__allowed_with_a_warning) {
  ip("link set v0 down");
  testing::internal::CaptureStderr();
  auto a = open("v0");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("ip link set v0 up"));
  auto b = open("v1");
  EXPECT_FALSE(a->interface().refresh());
  ip("link set v0 up");
  EXPECT_TRUE(becomes_true([&] { return a->interface().refresh() && b->interface().refresh(); }));
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 60));
  Collector got;
  EXPECT_TRUE(receive_until(*b, got, 1));
}

TEST_F(packet_link_outage, removed__no_crash) {
  auto a = open("v0");
  auto b = open("v1");
  const Bytes frame = make_frame(b->interface().nic(), a->interface().nic(), 60);
  ip("link del v0");
  for (int i = 0; i < 2; i++) {
    EXPECT_FALSE(a->interface().refresh());
    EXPECT_FALSE(b->interface().refresh());
    frame_queue(*a, frame);
    frame_queue(*a, frame);
    a->flush();
    Collector got;
    EXPECT_EQ(a->receive(got, 10), 0U);
  }
  EXPECT_EQ(a->counters().send_errors, 4U);
}

// A driver is loaded again, or a NIC unplugged and plugged in: the interface has the same address, but
// another index.
TEST_F(packet_link_outage, removed_and_made_again__follows) {
  auto a = open("v0");
  auto b = open("v1");
  const NicId own = a->interface().nic(), other = b->interface().nic();
  ip("link del v0");
  EXPECT_FALSE(a->interface().refresh());
  EXPECT_EQ(a->interface().outage(), Outage::gone);
  EXPECT_NE(a->interface().follow(), 0) << "nothing is back yet";
  ip("link add v0 address " + mac_format(own) + " type veth peer name v1 address " + mac_format(other));
  ip("link set v0 up");
  ip("link set v1 up");
  for (Transport* link : {a.get(), b.get()}) {
    EXPECT_FALSE(link->interface().refresh());
    ASSERT_EQ(link->interface().outage(), Outage::returned);
    EXPECT_NE(link->interface().now().index, 0U);
    ASSERT_EQ(link->interface().follow(), 0);
    EXPECT_EQ(link->interface().outage(), Outage::none);
  }
  EXPECT_TRUE(becomes_true([&] { return a->interface().refresh() && b->interface().refresh(); }));
  Collector got;
  frame_send(*a, make_frame(other, own, 60));
  ASSERT_TRUE(receive_until(*b, got, 1));
  frame_send(*b, make_frame(own, other, 60));
  EXPECT_TRUE(receive_until(*a, got, 2));
  frame_send(*a, make_frame(other, own, 60, 37, 9));  // for another endpoint
  frame_send(*a, make_frame(other, own, 70));
  ASSERT_TRUE(receive_until(*b, got, 3));
  EXPECT_EQ(got.frames.back().size(), 70U) << "the filter is there";
}

TEST_F(packet_link_outage, made_again_with_the_same_index__follows_too) {
  auto a = open("v0");
  auto b = open("v1");
  const NicId own = a->interface().nic(), other = b->interface().nic();
  const std::string index_a = std::to_string(::if_nametoindex("v0")),
                    index_b = std::to_string(::if_nametoindex("v1"));
  ip("link del v0");
  ip("link add v0 index " + index_a + " address " + mac_format(own) + " type veth peer name v1 index " +
     index_b + " address " + mac_format(other));
  ip("link set v0 up");
  ip("link set v1 up");
  for (Transport* link : {a.get(), b.get()}) {
    EXPECT_FALSE(link->interface().refresh()) << "its socket is bound to nothing";
    ASSERT_EQ(link->interface().outage(), Outage::returned);
    ASSERT_EQ(link->interface().follow(), 0);
  }
  EXPECT_TRUE(becomes_true([&] { return a->interface().refresh() && b->interface().refresh(); }));
  frame_send(*a, make_frame(other, own, 60));
  Collector got;
  EXPECT_TRUE(receive_until(*b, got, 1));
}

// A container's interface may get the index that an interface of the host left free.
TEST_F(packet_link_outage, another_one_with_its_index__is_not_taken_for_it) {
  auto a = open("v0");
  const NicId own = a->interface().nic();
  const std::string index = std::to_string(::if_nametoindex("v0"));
  ip("link del v0");
  ip("link add intruder index " + index + " address " + mac_format(own) + " type veth peer name v1");
  ip("link set intruder up");
  EXPECT_FALSE(a->interface().refresh());
  EXPECT_EQ(a->interface().outage(), Outage::gone);
  EXPECT_NE(a->interface().follow(), 0);
  ip("link set intruder address 02:aa:00:00:00:04");
  EXPECT_FALSE(a->interface().refresh());
  EXPECT_EQ(a->interface().outage(), Outage::gone);
  ip("link add v0 address " + mac_format(own) + " type veth peer name v2");
  EXPECT_FALSE(a->interface().refresh());
  EXPECT_EQ(a->interface().outage(), Outage::returned);
  EXPECT_EQ(a->interface().now().index, ::if_nametoindex("v0"));
  EXPECT_EQ(a->interface().follow(), 0);
}

TEST_F(packet_link_outage, another_one_with_its_name__is_not_followed) {
  auto a = open("v0");
  ip("link del v0");
  ip("link add v0 address 02:aa:00:00:00:01 type veth peer name v1");
  ip("link set v0 up");
  EXPECT_FALSE(a->interface().refresh());
  EXPECT_EQ(a->interface().outage(), Outage::replaced);
  EXPECT_EQ(a->interface().now().nic, 0x02aa00000001U);
  EXPECT_NE(a->interface().follow(), 0);
}

TEST_F(packet_link_outage, another_address__peers_know_the_former) {
  auto a = open("v0");
  const NicId own = a->interface().nic();
  ip("link set v0 address 02:aa:00:00:00:02");
  a->interface().refresh();
  EXPECT_EQ(a->interface().outage(), Outage::readdressed);
  EXPECT_EQ(a->interface().now().nic, 0x02aa00000002U);
  ip("link set v0 address " + mac_format(own));
  EXPECT_TRUE(
      becomes_true([&] { return a->interface().refresh() && a->interface().outage() == Outage::none; }));
}

TEST_F(packet_link_outage, down_and_without_carrier__are_told_apart) {
  auto a = open("v0");
  auto b = open("v1");
  EXPECT_TRUE(becomes_true([&] { return a->interface().refresh(); }));
  EXPECT_EQ(a->interface().outage(), Outage::none);
  ip("link set v1 down");
  EXPECT_TRUE(becomes_true([&] { return !a->interface().refresh(); }));
  EXPECT_EQ(a->interface().outage(), Outage::no_carrier);
  b->interface().refresh();
  EXPECT_EQ(b->interface().outage(), Outage::down);
}

TEST_F(packet_link_outage, renamed__still_the_same_interface) {
  auto a = open("v0");
  ip("link set v0 down");
  ip("link set v0 name other");
  ip("link set other mtu 2000 up");
  EXPECT_TRUE(becomes_true([&] { return a->interface().refresh(); }));
  EXPECT_EQ(a->interface().mtu(), 2000U);
}

TEST_F(packet_link_outage, mtu_grows__ring_follows) {
  auto a = open("v0");
  auto b = open("v1");
  const int descriptor = b->descriptor();
  set_mtu(9000);
  const Bytes large = make_frame(b->interface().nic(), a->interface().nic(), 9014);
  // Before refresh() the frame is longer than a slot. It is ignored, not delivered cut.
  frame_send(*a, large);
  Collector got;
  EXPECT_TRUE(becomes_true([&] {
    EXPECT_EQ(b->receive(got, 10), 0U);
    return b->counters().frames_ignored == 1;
  }));
  EXPECT_TRUE(b->interface().refresh());
  EXPECT_EQ(b->interface().mtu(), 9000U);
  EXPECT_EQ(b->descriptor(), descriptor);
  for (int i = 0; i < 100; i++) {
    frame_send(*a, large);
    ASSERT_TRUE(receive_until(*b, got, got.frames.size() + 1));
    ASSERT_EQ(got.frames.back(), large);
  }
  EXPECT_EQ(b->counters().frames_ignored, 1U);
  // The filter is still there.
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 60, 37, 9));
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 70, 37, 0));
  ASSERT_TRUE(receive_until(*b, got, 101));
  EXPECT_EQ(got.frames.back().size(), 70U);
}

TEST_F(packet_link_outage, mtu_shrinks__ring_stays) {
  set_mtu(9000);
  auto a = open("v0");
  auto b = open("v1");
  frame_send(*a, make_frame(b->interface().nic(), a->interface().nic(), 60));
  set_mtu(1500);
  EXPECT_TRUE(b->interface().refresh());
  EXPECT_EQ(b->interface().mtu(), 1500U);
  Collector got;  // the frame that waited was not lost
  EXPECT_TRUE(receive_until(*b, got, 1));
}

}  // namespace
}  // namespace omx::link
