// SPDX-License-Identifier: BSD-3-Clause
// An endpoint that did not run for a while, or whose neighbour did not, must not take frames for lost that
// only wait.
#include "runtime/endpoint/counters_shared.h"
#include "tests/support/pair.h"

namespace omx::runtime {
namespace {

using protocol::Counter;

class endpoint_late : public PairTest {
 protected:
  static std::uint64_t count(const Endpoint& endpoint, Counter id) {
    const auto counters = counters_read(endpoint.board().interface.index, endpoint.id());
    return counters ? counters->engine[id] : 0;
  }
  // Lets a time pass that is longer than any timer that asks again.
  static void nobody_runs() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }
};

// More frames wait than one turn reads. What is missing after that turn may be among those frames.
TEST_F(endpoint_late, frames_that_wait_unread__are_not_asked_for_again) {
  const Address to_b = connect(*a_, *b_);
  constexpr unsigned kMessages = 4, kBytes = 40'000;
  std::vector<Bytes> data, buffers(kMessages, Bytes(kBytes));
  std::vector<Request*> receives;
  for (unsigned i = 0; i < kMessages; i++) receives.push_back(post(*b_, buffers[i], i));
  for (unsigned i = 0; i < kMessages; i++) data.push_back(pattern(kBytes, i));
  for (unsigned i = 0; i < kMessages; i++) send(*a_, to_b, data[i], i, true);
  ASSERT_TRUE(becomes_true([&] {
    b_->progress();
    return count(*b_, Counter::send_pull_request) >= kMessages;
  }));
  const std::uint64_t before = count(*b_, Counter::pull_rerequest_timer);
  ASSERT_TRUE(becomes_true([&] {
    a_->progress();
    return count(*a_, Counter::recv_pull_request) >= kMessages;
  }));
  nobody_runs();
  for (unsigned i = 0; i < kMessages; i++) {
    EXPECT_EQ(complete(*b_, receives[i]).status, Status::success);
    EXPECT_EQ(buffers[i], data[i]);
  }
  EXPECT_EQ(count(*b_, Counter::pull_rerequest_timer), before);
}

class endpoint_late_local : public endpoint_late {
 protected:
  Settings settings() override {
    Settings s = PairTest::settings();
    s.intra_node.enabled = true;
    return s;
  }
};

// Nothing is lost in shared memory. A neighbour that does not run finds the first copy later.
TEST_F(endpoint_late_local, a_neighbour_that_does_not_read__is_sent_nothing_again) {
  const Address to_b = connect(*a_, *b_);
  const Bytes large = pattern(200'000, 1), small = pattern(100, 2);
  Bytes large_room(large.size()), small_room(small.size());
  Request* const sent = send(*a_, to_b, large, 1);
  send(*a_, to_b, small, 2, true);
  const std::uint64_t before = count(*a_, Counter::resend_timeout);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(60);
  while (std::chrono::steady_clock::now() < until) a_->progress();
  EXPECT_EQ(count(*a_, Counter::resend_timeout), before);
  Request* first = post(*b_, large_room, 1);
  Request* second = post(*b_, small_room, 2);
  EXPECT_EQ(complete(*b_, first).status, Status::success);
  EXPECT_EQ(complete(*b_, second).status, Status::success);
  EXPECT_EQ(complete(*a_, sent).status, Status::success);  // its memory is needed until then
  EXPECT_EQ(large_room, large);
  EXPECT_EQ(small_room, small);
}

}  // namespace
}  // namespace omx::runtime
