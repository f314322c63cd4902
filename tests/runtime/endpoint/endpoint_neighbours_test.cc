// SPDX-License-Identifier: BSD-3-Clause
// How endpoints of one host affect each other's waits, hostile endpoints included.
#include <pthread.h>

#include <functional>
#include <optional>

#include "local/hello.h"
#include "local/memory.h"
#include "local/memory_access.h"
#include "runtime/board/claim.h"
#include "tests/support/allocation_failure.h"
#include "tests/support/no_descriptor.h"
#include "tests/support/pair.h"

namespace omx::runtime {
namespace {

using protocol::kMillisecond;

class endpoint_neighbours : public PairTest {
 protected:
  Settings settings() override {
    Settings s = PairTest::settings();
    s.intra_node.enabled = true;
    s.waiting.spin_us = 0;
    // Lost frames are not repeated within the time of the test.
    s.protocol.reliability.resend_delay = s.protocol.reliability.resend_delay_extended =
        60'000 * kMillisecond;
    s.protocol.reliability.resend_delay_least = 60'000 * kMillisecond;
    s.protocol.reliability.resend_delay_max = 60'000 * kMillisecond;
    s.protocol.reliability.peer_timeout = 120'000 * kMillisecond;
    return s;
  }
};

TEST_F(endpoint_neighbours, wait__ends_though_a_ring_holds_rubbish) {
  const OwnFd connection = claim_connect(b_->board().interface.index, b_->id());
  ASSERT_TRUE(connection.open());
  const auto memory = local::SharedMemory::create(local::ring_memory(local::kRingBytes));
  local::Hello hello;
  hello.nic = a_->board().interface.nic;
  hello.endpoint = 9;
  hello.proof_at = local::proof_address();
  ASSERT_TRUE(local::hello_send(connection.get(), hello, memory.descriptor()));
  Completion completion;
  EXPECT_EQ(b_->wait_any(0, 0, 20, completion), WaitOutcome::timed_out);
  const std::uint32_t rubbish = 100;
  std::memcpy(memory.data() + local::kRecordsAt, &rubbish, sizeof rubbish);
  EXPECT_EQ(b_->wait_any(0, 0, 20, completion), WaitOutcome::timed_out);
}

// The thread that connects finds the refusal, and the one that sleeps has to act on it.
TEST_F(endpoint_neighbours, refused__wakes_the_thread_that_leads) {
  Bytes buffer(16);
  Request* never = post(*a_, buffer, 1);
  std::thread leader([&] {
    Completion completion;
    EXPECT_EQ(a_->wait(never, 30000, completion), WaitOutcome::done);
  });
  ASSERT_TRUE(others_wait());
  const auto request = a_->connect(b_->board().interface.nic, 17, 0, 0, nullptr, false);
  Completion completion;
  EXPECT_EQ(a_->wait(*request, 30000, completion), WaitOutcome::done);
  EXPECT_EQ(completion.status, Status::endpoint_closed);
  EXPECT_TRUE(a_->cancel(never, true).value_or(false));
  leader.join();
}

// A thread that leaves by an exception must not stay in the list of waiting threads.
TEST_F(endpoint_neighbours, wait__without_memory_leaves_nothing_behind) {
  // To answer, b needs a ring.
  const auto request = a_->connect(b_->board().interface.nic, b_->id(), 0, 0, nullptr, false);
  Completion completion;
  allocation_fail(0);
  EXPECT_THROW(b_->wait_any(0, 0, 1000, completion), std::bad_alloc);
  allocation_fail(-1);
  std::thread other([&] {
    Completion mine;
    EXPECT_EQ(b_->wait_any(0, 0, 20, mine), WaitOutcome::timed_out);
  });
  other.join();
  b_->wakeup();
  EXPECT_TRUE(a_->cancel(*request).has_value());
}

class endpoint_shortage : public endpoint_neighbours {
 protected:
  Settings settings() override {
    Settings s = endpoint_neighbours::settings();
    s.protocol.reliability.resend_delay = s.protocol.reliability.resend_delay_extended = 10 * kMillisecond;
    s.protocol.reliability.resend_delay_least = 10 * kMillisecond;
    s.protocol.reliability.resend_delay_max = 50 * kMillisecond;
    s.protocol.reliability.peer_timeout = 3000 * kMillisecond;  // the shortage times out after half of it
    return s;
  }
};

// The shortage ends the connect before the peer counts as silent.
TEST_F(endpoint_shortage, connect__ends_when_no_descriptor_can_be_had) {
  testing::internal::CaptureStderr();
  Completion completion;
  {
    const NoDescriptor none;
    const auto request = a_->connect(b_->board().interface.nic, b_->id(), 0, 0, nullptr, false);
    ASSERT_TRUE(request);
    EXPECT_EQ(a_->wait(*request, 60'000, completion), WaitOutcome::done);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(completion.status, Status::endpoint_unreachable);
  EXPECT_THAT(said, testing::HasSubstr("no way to endpoint"));
  EXPECT_THAT(said, testing::HasSubstr("ulimit -n"));
  connect(*a_, *b_);  // with descriptors the connect works
}

TEST_F(endpoint_shortage, connect__that_finds_descriptors_in_time_succeeds) {
  testing::internal::CaptureStderr();
  std::optional<NoDescriptor> none(std::in_place);
  const auto request = a_->connect(b_->board().interface.nic, b_->id(), 0, 0, nullptr, false);
  ASSERT_TRUE(request);
  none.reset();
  EXPECT_EQ(complete(*a_, *request).status, Status::success);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::Not(testing::HasSubstr("no way to endpoint")));
}

// A thread can be cancelled only where the C library itself waits.
TEST_F(endpoint_neighbours, cancelled_thread__leaves_no_call_half_done) {
  bool done = false;
  std::function<void()> body = [&] {
    ::pthread_cancel(::pthread_self());
    const Address to_b = connect(*a_, *b_);
    const Bytes data = pattern(16, 1);
    send(*a_, to_b, data, 1, true);
    a_->progress();
    done = process_->close(a_);
    ::pthread_testcancel();
  };
  const auto run = [](void* pointer) -> void* {
    (*static_cast<std::function<void()>*>(pointer))();
    return nullptr;
  };
  // A thread that has to be woken.
  const Background sleeper([&] {
    Completion completion;
    b_->wait_any(2, ~std::uint64_t{0}, 10, completion);
  });
  pthread_t thread;
  ASSERT_EQ(::pthread_create(&thread, nullptr, run, &body), 0);
  void* result = nullptr;
  ::pthread_join(thread, &result);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace omx::runtime
