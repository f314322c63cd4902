// SPDX-License-Identifier: BSD-3-Clause
// An endpoint that talks by UDP with one peer alone, and so has a connected fast-path socket for it
// (link/udp/udp_fast_path.h). Then another peer sends.
#include <cstdlib>

#include "runtime/endpoint/counters_shared.h"
#include "tests/support/pair.h"

namespace omx::runtime {
namespace {

class endpoint_fast_path : public PairTest {
 protected:
  void SetUp() override {
    if (!by_udp()) ::setenv("OMX_LINK", "udp", 1);
    PairTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    unknown_peer_ = open(*process_, "v1");
    ASSERT_TRUE(unknown_peer_);
    from_b_ = connect(*b_, *a_);
    from_unknown_peer_ = connect(*unknown_peer_, *a_);
    for (int i = 0; i < 1000; i++) {
      Request* receive = post(*a_, buffer_, 1);
      send(*b_, from_b_, pattern(16, 1), 1, true);
      complete(*a_, receive);
    }
    for (int i = 0; i < 200; i++) a_->progress();  // these polls find nothing
  }
  Settings settings() override {
    Settings s = PairTest::settings();
    s.waiting.spin_us = 0;
    return s;
  }
  // Returns the wake-ups by frames only: timers may come at any time.
  static std::uint64_t wakeups(const Endpoint& endpoint) {
    const auto counters = counters_read(endpoint.board().interface.index, endpoint.id());
    EXPECT_TRUE(counters.has_value());
    return counters ? counters->wakeups_frame : 0;
  }

  Endpoint* unknown_peer_ = nullptr;
  Address from_b_, from_unknown_peer_;
  Bytes buffer_ = Bytes(16);
};

// The socket of unknown peers is polled rarely. If a sleeper did not poll it at once, each of its sleeps
// would end immediately.
TEST_F(endpoint_fast_path, asleep__another_one_wakes_it_once) {
  ASSERT_GT(a_->link_counters().frames_alone, 0U);
  for (int i = 0; i < 5; i++) {
    Request* receive = post(*a_, buffer_, 2);
    const std::uint64_t before = wakeups(*a_);
    std::jthread sends([&] {
      EXPECT_TRUE(others_wait());
      send(*unknown_peer_, from_unknown_peer_, pattern(16, 2), 2, true);
    });
    Completion completion;
    EXPECT_EQ(a_->wait(receive, 60000, completion), WaitOutcome::done);
    EXPECT_LE(wakeups(*a_) - before, 1U);
  }
}

}  // namespace
}  // namespace omx::runtime
