// SPDX-License-Identifier: BSD-3-Clause
// What happens to the interface under an open endpoint.
#include "pair.h"
#include "runtime/clock.h"

namespace omx::runtime {
namespace {

using protocol::kMillisecond;

class endpoint_outage : public PairTest {
 protected:
  void SetUp() override {
    PairTest::SetUp();
    if (process_) to_b_ = connect(*a_, *b_);
  }
  // More than one once-per-second check.
  void pass_time() {
    const TimeNs limit = clock_now() + 1100 * kMillisecond;
    drive_until([&] { return clock_now() > limit; });
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
  EXPECT_EQ(text.find("v1 is down"), text.rfind("v1 is down"));  // once
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
  // What the machine does meanwhile may be added to its time, but not each time.
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
  EXPECT_THAT(text, testing::HasSubstr("v0 is down"));
}

TEST_F(endpoint_outage, mtu_changes__larger_frames_are_used) {
  testing::internal::CaptureStderr();
  const auto frame_to_b = [&] {
    for (const protocol::PartnerInfo& info : a_->partners()) {
      if (info.nic == b_->board().interface.nic) return info.frame_max;
    }
    return 0U;
  };
  EXPECT_LE(frame_to_b(), 1514U);
  set_mtu(9000);
  pass_time();
  connect(*a_, *b_);  // sizes are agreed anew
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
