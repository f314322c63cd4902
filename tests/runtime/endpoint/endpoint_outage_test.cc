// SPDX-License-Identifier: BSD-3-Clause
// What an open endpoint does when something happens to its interface.
#include <net/if.h>

#include "listen_failure.h"
#include "runtime/board/claim.h"
#include "runtime/clock.h"
#include "runtime/endpoint/counters_shared.h"
#include "tests/support/pair.h"

namespace omx::runtime {
namespace {

using protocol::kMillisecond;

class endpoint_outage : public PairTest {
 protected:
  void SetUp() override {
    PairTest::SetUp();
    if (process_) to_b_ = connect(*a_, *b_);
  }
  // Lets more than one check pass; there is one each second.
  void pass_time() {
    const TimeNs limit = clock_now() + 1100 * kMillisecond;
    drive_until([&] { return clock_now() > limit; });
  }
  // Removes the cable and makes another one. Its v0 has the address by which peers know the old v0; both
  // ends are down.
  void cable_make_again() {
    const NicId nic = a_->board().interface.nic;
    link::ip("link del v0");
    pass_time();
    link::ip("link add v0 address " + mac_format(nic) + " type veth peer name v1");
  }
  Address to_b_;
};

TEST_F(endpoint_outage, down_and_up_again__messages_wait) {
  Bytes buffer(16);
  const Bytes data = pattern(16, 1);
  Request* receive = post(*b_, buffer, 1);
  testing::internal::CaptureStderr();
  link::ip("link set v1 down");
  send(*a_, to_b_, data, 1, true);
  pass_time();
  pass_time();
  link::ip("link set v1 up");
  EXPECT_EQ(complete(*b_, receive).status, Status::success);
  pass_time();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::HasSubstr("v1 is down"));
  EXPECT_THAT(text, testing::HasSubstr("v1 is up again"));
  EXPECT_EQ(text.find("v1 is down"), text.rfind("v1 is down"));  // only once
}

TEST_F(endpoint_outage, down__a_sleeper_does_not_spin) {
  testing::internal::CaptureStderr();
  Bytes buffer(16);
  Request* receive = post(*b_, buffer, 1);
  std::thread outage([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    link::ip("link set v1 down");
  });
  Completion completion;
  // Work that the machine does meanwhile may add to the thread's time, but not in each attempt.
  std::int64_t least = 1'000'000'000;
  for (int i = 0; i < 4; i++) {
    timespec before, after;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    EXPECT_EQ(b_->wait(receive, 500, completion), WaitOutcome::timed_out);
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    if (i == 0) outage.join();
    least = std::min(least, (after.tv_sec - before.tv_sec) * 1'000'000'000 + after.tv_nsec - before.tv_nsec);
  }
  EXPECT_LT(least, 200'000'000);
  testing::internal::GetCapturedStderr();
}

TEST_F(endpoint_outage, removed__calls_go_on_and_close_ends) {
  testing::internal::CaptureStderr();
  Bytes buffer(16);
  const Bytes data = pattern(16, 1);
  Request* receive = post(*a_, buffer, 1);
  link::ip("link del v0");
  send(*a_, to_b_, data, 1, true);
  pass_time();
  Completion completion;
  EXPECT_EQ(a_->wait(receive, 50, completion), WaitOutcome::timed_out);
  // Local traffic needs no interface.
  send(*a_, a_->address(), data, 1, true);
  EXPECT_EQ(complete(*a_, receive).status, Status::success);
  EXPECT_TRUE(process_->close(a_));
  EXPECT_TRUE(process_->close(b_));
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::HasSubstr("v0 is gone"));
}

// A driver that is loaded again does the same. Messages that waited arrive, and new endpoints find the
// others.
TEST_F(endpoint_outage, removed_and_made_again__goes_on) {
  testing::internal::CaptureStderr();
  const NicId nic_a = a_->board().interface.nic, nic_b = b_->board().interface.nic;
  const std::uint32_t former = ::if_nametoindex("v0");
  Bytes buffer(16), late(16);
  const Bytes data = pattern(16, 1);
  Request* receive = post(*b_, buffer, 1);
  link::ip("link del v0");
  pass_time();
  send(*a_, to_b_, data, 1, true);
  link::ip("link add v0 address " + mac_format(nic_a) + " type veth peer name v1 address " +
           mac_format(nic_b));
  link::ip("link set v0 up");
  link::ip("link set v1 up");
  EXPECT_EQ(complete(*b_, receive).status, Status::success);
  EXPECT_EQ(buffer, data);
  pass_time();
  // The endpoint is claimed under the present index. So other processes find it, and no other endpoint takes
  // its id.
  const std::uint32_t index = ::if_nametoindex("v0");
  ASSERT_NE(index, former);
  EXPECT_TRUE(claim_held(index, a_->id()));
  EXPECT_FALSE(claim_held(former, a_->id()));
  EXPECT_TRUE(counters_read(index, a_->id()));
  Endpoint* another = open(*process_, "v0");
  ASSERT_NE(another, nullptr);
  EXPECT_NE(another->id(), a_->id());
  EXPECT_TRUE(claim_held(index, another->id()));
  const Address to_b = connect(*another, *b_);
  receive = post(*b_, late, 2);
  send(*another, to_b, data, 2, true);
  EXPECT_TRUE(drive_until([&] {
    another->progress();
    Completion completion;
    return b_->test(receive, completion) == WaitOutcome::done;
  }));
  EXPECT_TRUE(process_->close(another));
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::HasSubstr("v0 is gone"));
  EXPECT_THAT(text, testing::HasSubstr("v0 is up again"));
}

class endpoint_outage_udp : public endpoint_outage {
 protected:
  endpoint_outage_udp() { opens_ = false; }
  void SetUp() override {
    PairTest::SetUp();
    if (!process_) return;
    link::ip("link set lo up");
    addresses_give();
    Settings by_udp = settings();
    by_udp.link = LinkKind::udp4;
    open_apart(by_udp);
  }
  static void addresses_give() {
    for (const int end : {0, 1})
      link::ip("address add 10.9.0." + std::to_string(end + 1) + "/24 dev v" + std::to_string(end));
  }
};

// Peers know the IP address, which is back, while the MAC address is another one.
TEST_F(endpoint_outage_udp, removed_and_made_again__new_endpoints_are_claimed_by_the_index_of_now) {
  testing::internal::CaptureStderr();
  const std::uint32_t former = ::if_nametoindex("v0");
  link::ip("link del v0");
  pass_time();
  link::ip("link add v0 type veth peer name v1");
  addresses_give();
  link::ip("link set v0 up");
  link::ip("link set v1 up");
  const std::uint32_t index = ::if_nametoindex("v0");
  ASSERT_NE(index, former);
  ASSERT_TRUE(drive_until([&] { return claim_held(index, a_->id()); }));
  Endpoint* another = open(*process_, "v0");
  ASSERT_NE(another, nullptr);
  EXPECT_NE(another->id(), a_->id());
  EXPECT_TRUE(claim_held(index, another->id()));
  EXPECT_FALSE(claim_held(former, another->id()));
  EXPECT_EQ(process_->board_named(mac_format(link::nic_of("v0"))), &process_->boards()[0]);
  EXPECT_TRUE(process_->close(another));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("v0 is up again"));
}

class endpoint_outage_local : public endpoint_outage {
 protected:
  Settings settings() override {
    Settings s = PairTest::settings();
    s.intra_node.enabled = true;
    return s;
  }
};

// Endpoints of one host meet by their claims.
TEST_F(endpoint_outage_local, made_again__another_process_finds_its_endpoints) {
  testing::internal::CaptureStderr();
  cable_make_again();
  link::ip("link set v0 up");
  link::ip("link set v1 up");
  ASSERT_TRUE(drive_until([&] { return claim_held(::if_nametoindex("v0"), a_->id()); }));
  Settings alone = settings();
  alone.interfaces = "v0";
  other_ = process_create(alone);
  ASSERT_TRUE(other_);
  b_ = open(*other_, "v0");
  ASSERT_NE(b_, nullptr);
  const Address to_a = connect(*b_, *a_);
  const Bytes data = pattern(16, 1);
  Bytes buffer(16), answer(16);
  Request* receive = post(*a_, buffer, 1);
  send(*b_, to_a, data, 1, true);
  EXPECT_EQ(complete(*a_, receive).status, Status::success);
  EXPECT_EQ(buffer, data);
  receive = post(*b_, answer, 2);
  send(*a_, connect(*a_, *b_), data, 2, true);
  EXPECT_EQ(complete(*b_, receive).status, Status::success);
  testing::internal::GetCapturedStderr();
}

// The hub listens at the former claim until it can listen at the present one.
TEST_F(endpoint_outage_local, made_again_and_nothing_can_be_listened_to__is_made_up_for) {
  testing::internal::CaptureStderr();
  const NicId nic_a = a_->board().interface.nic;
  const std::uint32_t former = ::if_nametoindex("v0");
  link::ip("link del v0");
  pass_time();
  {
    const ListenFailure failure;
    link::ip("link add v0 address " + mac_format(nic_a) + " type veth peer name v1");
    link::ip("link set v0 up");
    link::ip("link set v1 up");
    ASSERT_TRUE(drive_until([&] { return claim_held(::if_nametoindex("v0"), a_->id()); }));
    EXPECT_TRUE(claim_held(former, a_->id()));
  }
  pass_time();
  EXPECT_FALSE(claim_held(former, a_->id()));
  Settings alone = settings();
  alone.interfaces = "v0";
  other_ = process_create(alone);
  ASSERT_TRUE(other_);
  b_ = open(*other_, "v0");
  ASSERT_NE(b_, nullptr);
  connect(*b_, *a_);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("other processes of this host cannot connect yet: No space left"));
}

TEST_F(endpoint_outage, made_again_and_its_id_is_taken__is_told) {
  testing::internal::CaptureStderr();
  cable_make_again();
  auto taken = claim_try(::if_nametoindex("v0"), a_->id());
  ASSERT_TRUE(taken && taken->held());
  link::ip("link set v0 up");
  pass_time();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::HasSubstr("v0 is back, but this program does not go on with it: endpoint"));
  testing::internal::CaptureStderr();
  *taken = Claim();
  pass_time();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("v0 "));
  EXPECT_TRUE(claim_held(::if_nametoindex("v0"), a_->id()));
}

TEST_F(endpoint_outage, another_mac_address__is_told_once_with_the_remedy) {
  testing::internal::CaptureStderr();
  const std::string own = mac_format(a_->board().interface.nic);
  link::ip("link set v0 address 02:aa:00:00:00:03");
  pass_time();
  pass_time();
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::HasSubstr("the MAC address of v0 is 02:aa:00:00:00:03 now"));
  EXPECT_THAT(text, testing::HasSubstr("ip link set dev v0 address " + own));
  EXPECT_EQ(text.find("02:aa"), text.rfind("02:aa"));
  testing::internal::CaptureStderr();
  link::ip("link set v0 address " + own);
  pass_time();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("v0 is up again"));
}

TEST_F(endpoint_outage, mtu_changes__larger_frames_are_used) {
  testing::internal::CaptureStderr();
  const auto frame_to_b = [&] {
    for (const protocol::PeerInfo& info : a_->peers()) {
      if (info.nic == b_->board().interface.nic) return info.frame_max;
    }
    return 0U;
  };
  EXPECT_LE(frame_to_b(), 1514U);
  set_mtu(9000);
  pass_time();
  connect(*a_, *b_);  // sizes are agreed again
  EXPECT_TRUE(drive_until([&] { return frame_to_b() == 9014; })) << frame_to_b();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::HasSubstr("the MTU changed from 1500 to 9000"));
  const Bytes data = pattern(100'000, 3);
  Bytes buffer(100'000);
  Request* receive = post(*b_, buffer, 1);
  Request* sent = send(*a_, to_b_, data, 1);
  EXPECT_EQ(complete(*b_, receive).status, Status::success);
  EXPECT_EQ(complete(*a_, sent).status, Status::success);
  EXPECT_TRUE(buffer == data);
}

}  // namespace
}  // namespace omx::runtime
