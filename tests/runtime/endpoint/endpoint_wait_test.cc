// SPDX-License-Identifier: BSD-3-Clause
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "base/random.h"
#include "runtime/clock.h"
#include "runtime/wait/oversubscription.h"
#include "tests/support/pair.h"

namespace omx::runtime {
namespace {

using protocol::Arrival;
using protocol::kMillisecond;

// How long `action` took, and how much processor time of this thread it used.
struct Times {
  TimeNs wall = 0, busy = 0;
};
template <class Action>
Times time_of(Action action) {
  const auto busy_now = [] {
    timespec t;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<TimeNs>(t.tv_sec * 1'000'000'000 + t.tv_nsec);
  };
  const TimeNs wall = clock_now(), busy = busy_now();
  action();
  return {clock_now() - wall, busy_now() - busy};
}
// Returns the least processor time of some attempts: the machine may add to it.
template <class Action>
TimeNs least_busy(Action action) {
  TimeNs least = time_of(action).busy;
  for (int i = 0; i < 4; i++) least = std::min(least, time_of(action).busy);
  return least;
}

class endpoint_wait : public PairTest {
 protected:
  void SetUp() override {
    PairTest::SetUp();
    if (process_) to_b_ = connect(*a_, *b_);
  }
  static void settle() { EXPECT_TRUE(others_wait()); }

  Address to_b_;
};

TEST_F(endpoint_wait, wait__times_out_and_leaves_the_request) {
  Bytes buffer(16);
  Request* receive = post(*b_, buffer, 1);
  Completion completion;
  for (const std::uint64_t ms : {0, 1, 30}) {
    WaitOutcome outcome = WaitOutcome::done;
    const Times times = time_of([&] { outcome = b_->wait(receive, ms, completion); });
    EXPECT_EQ(outcome, WaitOutcome::timed_out);
    EXPECT_GE(times.wall, ms * kMillisecond);
  }
  send(*a_, to_b_, pattern(16, 1), 1, true);
  EXPECT_EQ(b_->wait(receive, 60000, completion), WaitOutcome::done);
  EXPECT_EQ(completion.status, Status::success);
}

// Polls that succeed do not add up to a long wait, which would check for oversubscription all the time.
TEST_F(endpoint_wait, test__who_finds_does_not_spin) {
  Bytes buffer(16);
  Completion completion;
  for (int round = 0; round < 50; round++) {
    Request* receive = post(*b_, buffer, 1);
    for (int look = 0; look < 10; look++) EXPECT_EQ(b_->test(receive, completion), WaitOutcome::timed_out);
    send(*b_, b_->address(), pattern(16, 1), 1, true);
    EXPECT_EQ(b_->test(receive, completion), WaitOutcome::done);
  }
  // Progress threads spin for a moment, too. A polling thread would count as long as it lives.
  const TimeNs deadline = clock_now() + 60'000 * kMillisecond;
  while (OversubscriptionDetector::spinning() > 0 && clock_now() < deadline) std::this_thread::yield();
  EXPECT_EQ(OversubscriptionDetector::spinning(), 0);
}

TEST_F(endpoint_wait, wait__sleeps_after_spinning) {
  Bytes buffer(16);
  Request* receive = post(*b_, buffer, 1);
  Completion completion;
  EXPECT_LT(least_busy([&] { b_->wait(receive, 300, completion); }), 100 * kMillisecond);
}

TEST_F(endpoint_wait, wait__done_before_it_begins) {
  Bytes buffer(16);
  Request* receive = post(*b_, buffer, 1);
  send(*b_, b_->address(), pattern(16, 1), 1, true);
  Completion completion;
  EXPECT_EQ(b_->wait(receive, 0, completion), WaitOutcome::done);
}

TEST_F(endpoint_wait, wait__woken_by_a_frame_while_it_sleeps) {
  Bytes buffer(16);
  Request* receive = post(*b_, buffer, 1);
  std::thread sender([&] {
    settle();
    send(*a_, to_b_, pattern(16, 1), 1, true);
  });
  Completion completion;
  EXPECT_EQ(b_->wait(receive, kForever, completion), WaitOutcome::done);
  sender.join();
}

// A message to oneself moves no frame, and the sleeper must be woken all the same.
TEST_F(endpoint_wait, wait__woken_when_another_thread_completes_the_request) {
  Bytes buffer(16);
  Request* receive = post(*b_, buffer, 1);
  std::thread sender([&] {
    settle();
    send(*b_, b_->address(), pattern(16, 1), 1, true);
  });
  Completion completion;
  EXPECT_EQ(b_->wait(receive, 60000, completion), WaitOutcome::done);
  sender.join();
}

// Another thread's test() takes the frame from the ring that would have woken the sleeper.
TEST_F(endpoint_wait, wait__with_another_thread_that_tests) {
  for (int round = 0; round < 200; round++) {
    Bytes buffer(16), other(16);
    Request* receive = post(*b_, buffer, 1);
    Request* never = post(*b_, other, 2);
    std::atomic<bool> stop{false};
    std::thread tester([&] {
      Completion completion;
      while (!stop) b_->test(never, completion);
    });
    if (round % 2) std::this_thread::sleep_for(std::chrono::microseconds(300));
    send(*a_, to_b_, pattern(16, 1), 1, true);
    Completion completion;
    ASSERT_EQ(b_->wait(receive, 60000, completion), WaitOutcome::done) << round;
    stop = true;
    tester.join();
    ASSERT_TRUE(b_->cancel(never).value());
  }
}

// No timer was scheduled when the leader fell asleep. It must heed the new request's timers, too.
TEST_F(endpoint_wait, wait__sleep_is_cut_when_another_thread_brings_a_deadline) {
  std::thread connector([&] {
    settle();
    const auto request = a_->connect(0x02deadbeef01, 0, 0, 99, nullptr, false);
    a_->set_timeout(*request, 100);
  });
  Completion completion;
  EXPECT_EQ(a_->wait_any(99, ~std::uint64_t{0}, 60000, completion), WaitOutcome::done);
  EXPECT_NE(completion.status, Status::success);
  connector.join();
}

TEST_F(endpoint_wait, wait_any__and_peek) {
  Bytes first(16), second(16);
  post(*b_, first, 1);
  Request* late = post(*b_, second, 2);
  send(*a_, to_b_, pattern(16, 1), 2, true);
  Request* found = nullptr;
  ASSERT_EQ(b_->wait_peek(60000, found), WaitOutcome::done);
  EXPECT_EQ(found, late);
  EXPECT_EQ(b_->context_of(found), second.data());
  Completion completion;
  EXPECT_EQ(b_->wait_any(1, ~std::uint64_t{0}, 10, completion), WaitOutcome::timed_out);
  ASSERT_EQ(b_->wait_any(2, ~std::uint64_t{0}, 10, completion), WaitOutcome::done);
  EXPECT_EQ(completion.context, second.data());
  send(*a_, to_b_, pattern(16, 1), 1, true);
  ASSERT_EQ(b_->wait_any(0, 0, 60000, completion), WaitOutcome::done);
  EXPECT_EQ(completion.match_info, 1U);
}

TEST_F(endpoint_wait, wait_probe__as_leader_and_as_follower) {
  std::atomic<int> probed{0};
  std::vector<std::thread> threads;
  threads.reserve(16);
  for (std::uint64_t match = 0; match < 4; match++) {
    threads.emplace_back([&, match] {
      Arrival arrival;
      EXPECT_EQ(b_->wait_probe(match, ~std::uint64_t{0}, 60000, arrival), WaitOutcome::done);
      EXPECT_EQ(arrival.match_info, match);
      EXPECT_EQ(arrival.msg_length, 16U);
      probed++;
    });
  }
  settle();
  for (int match = 3; match >= 0; match--) {
    send(*a_, to_b_, pattern(16, 1), static_cast<std::uint64_t>(match), true);
    EXPECT_TRUE(becomes_true([&] { return probed == 4 - match; }));
  }
  for (std::thread& thread : threads) thread.join();
}

// Each thread has its own request. Messages come in an order that makes the leader change.
TEST_F(endpoint_wait, many_threads__each_with_its_request) {
  constexpr std::uint64_t kThreads = 12;
  std::vector<std::thread> threads;
  threads.reserve(16);
  std::atomic<std::uint64_t> done{0};
  for (std::uint64_t match = 0; match < kThreads; match++) {
    threads.emplace_back([&, match] {
      for (std::uint64_t round = 0; round < 50; round++) {
        Bytes buffer(16);
        Completion completion;
        ASSERT_EQ(b_->wait(post(*b_, buffer, round * kThreads + match), 60000, completion),
                  WaitOutcome::done);
        EXPECT_EQ(completion.match_info, round * kThreads + match);
        EXPECT_TRUE(buffer == pattern(16, static_cast<unsigned>(completion.match_info)));
        done++;
      }
    });
  }
  for (std::uint64_t match = 0; match < kThreads * 50; match++)
    send(*a_, to_b_, pattern(16, static_cast<unsigned>(match)), match, true);
  Background driver([&] { a_->progress(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, kThreads * 50);
}

// docs/spec/tools-and-tests.md 3: omx_multithread_wait_any. Every message is completed exactly once.
TEST_F(endpoint_wait, many_threads__wait_any) {
  constexpr std::uint64_t kMessages = 2000;
  std::vector<Bytes> buffers(kMessages, Bytes(8));
  for (std::uint64_t i = 0; i < kMessages; i++) post(*b_, buffers[i], i);
  std::mutex mutex;
  std::multiset<std::uint64_t> seen;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; t++) {
    threads.emplace_back([&] {
      const TimeNs limit = clock_now() + 60'000 * kMillisecond;
      for (bool all = false; !all && clock_now() < limit;) {
        Completion completion;
        const bool got = b_->wait_any(0, 0, 1000, completion) == WaitOutcome::done;
        const std::lock_guard guard(mutex);
        if (got) seen.insert(completion.match_info);
        all = seen.size() >= kMessages;
        if (all) b_->wakeup();
      }
    });
  }
  const Bytes data = pattern(8, 1);
  for (std::uint64_t i = 0; i < kMessages; i++) send(*a_, to_b_, data, i, true);
  {
    Background driver([&] { a_->progress(); });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(seen.size(), kMessages);
  EXPECT_EQ(std::set<std::uint64_t>(seen.begin(), seen.end()).size(), kMessages);
  Completion none;
  EXPECT_EQ(b_->wait_any(0, 0, 10, none), WaitOutcome::timed_out);
}

// Waits of all lengths, tests, wake-ups, and progression that comes and goes: no thread is ever left asleep.
TEST_F(endpoint_wait, many_threads__disturbed) {
  std::vector<std::thread> threads;
  threads.reserve(16);
  const Bytes data = pattern(16, 1);
  std::atomic<int> finished{0};
  for (std::uint64_t t = 0; t < 6; t++) {
    threads.emplace_back([&, t] {
      Random random(t + 1);
      for (std::uint64_t round = 0; round < 300; round++) {
        Bytes buffer(16);
        Request* receive = post(*b_, buffer, round << 8 | t);
        send(*a_, to_b_, data, round << 8 | t, true);
        Completion completion;
        bool done = false;
        while (!done) {
          switch (random.below(4)) {
            case 0:
              done = b_->test(receive, completion) == WaitOutcome::done;
              break;
            case 1:
              done = b_->wait(receive, random.below(3), completion) == WaitOutcome::done;
              break;
            case 2:
              done = b_->wait(receive, kForever, completion) == WaitOutcome::done;
              break;
            default:
              done = b_->wait_any(round << 8 | t, ~std::uint64_t{0}, 50, completion) == WaitOutcome::done;
              break;
          }
        }
        EXPECT_EQ(completion.match_info, round << 8 | t);
      }
      finished++;
    });
  }
  Random random(99);
  Background driver([&] { a_->progress(); });
  while (finished < 6) {
    const std::uint64_t what = random.below(10);
    if (what == 0) b_->wakeup();
    if (what == 1) b_->disable_progression();
    if (what > 1) b_->reenable_progression();
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(300)));
    b_->reenable_progression();
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(endpoint_wait, follower__times_out_while_the_leader_waits_on) {
  Bytes first(16), second(16);
  Request* receive = post(*b_, first, 1);
  Request* other = post(*b_, second, 2);
  std::thread leader([&] {
    Completion completion;
    EXPECT_EQ(b_->wait(receive, 60000, completion), WaitOutcome::done);
  });
  settle();
  Completion completion;
  const Times times = time_of([&] { EXPECT_EQ(b_->wait(other, 50, completion), WaitOutcome::timed_out); });
  EXPECT_GE(times.wall, 50 * kMillisecond);
  EXPECT_EQ(b_->wait(other, 0, completion), WaitOutcome::timed_out);
  send(*a_, to_b_, pattern(16, 1), 1, true);
  leader.join();
}

TEST_F(endpoint_wait, follower__leads_when_the_leader_leaves) {
  Bytes first(16), second(16);
  Request* receive = post(*b_, first, 1);
  Request* other = post(*b_, second, 2);
  std::thread leader([&] {
    Completion completion;
    EXPECT_EQ(b_->wait(receive, 40, completion), WaitOutcome::timed_out);
  });
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    send(*a_, to_b_, pattern(16, 1), 2, true);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  Completion completion;
  EXPECT_EQ(b_->wait(other, 60000, completion), WaitOutcome::done);
  leader.join();
  sender.join();
}

// docs/spec/tools-and-tests.md 3: mx_wakeup_test.
TEST_F(endpoint_wait, wakeup__releases_all_that_wait_now_and_none_later) {
  Bytes buffer(16);
  Request* receive = post(*b_, buffer, 1);
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  threads.reserve(16);
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&, t] {
      Completion completion;
      Arrival arrival;
      Request* found = nullptr;
      const WaitOutcome outcome = t % 4 == 0   ? b_->wait(receive, kForever, completion)
                                  : t % 4 == 1 ? b_->wait_any(0, 0, kForever, completion)
                                  : t % 4 == 2 ? b_->wait_peek(kForever, found)
                                               : b_->wait_probe(0, 0, kForever, arrival);
      EXPECT_EQ(outcome, WaitOutcome::woken);
      woken++;
    });
  }
  settle();
  EXPECT_EQ(woken, 0);
  b_->wakeup();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(woken, 8);
  Completion completion;
  EXPECT_EQ(b_->wait(receive, 10, completion), WaitOutcome::timed_out);
}

TEST_F(endpoint_wait, disabled__waits_time_out_and_can_be_woken) {
  Bytes buffer(16);
  Request* receive = post(*b_, buffer, 1);
  b_->disable_progression();
  send(*a_, to_b_, pattern(16, 1), 1, true);
  Completion completion;
  WaitOutcome outcome = WaitOutcome::done;
  const Times times = time_of([&] { outcome = b_->wait(receive, 100, completion); });
  EXPECT_EQ(outcome, WaitOutcome::timed_out);
  EXPECT_GE(times.wall, 100 * kMillisecond);
  EXPECT_LT(least_busy([&] { b_->wait(receive, 100, completion); }), 50 * kMillisecond);
  std::thread waker([&] {
    settle();
    b_->wakeup();
  });
  EXPECT_EQ(b_->wait(receive, kForever, completion), WaitOutcome::woken);
  waker.join();
  std::thread enabler([&] {
    settle();
    b_->reenable_progression();
  });
  EXPECT_EQ(b_->wait(receive, kForever, completion), WaitOutcome::done);
  enabler.join();
}

void on_signal(int) {}

class endpoint_wait_signal : public endpoint_wait {
 protected:
  Settings settings() override {
    Settings s = endpoint_wait::settings();
    s.waiting.interruptible = intr_;
    return s;
  }
  // Signals a wait again and again, as leader and as follower. Returns how long each lasted.
  std::array<TimeNs, 2> signalled_waits(std::uint64_t timeout_ms) {
    struct sigaction action {};
    action.sa_handler = on_signal;
    ::sigaction(SIGUSR1, &action, nullptr);
    Bytes buffer(16);
    Request* receive = post(*b_, buffer, 1);
    std::array<TimeNs, 2> waited{};
    std::array<std::atomic<bool>, 2> left{};
    const auto run = [&](std::size_t which) {
      Completion completion;
      waited[which] =
          time_of([&] { EXPECT_EQ(b_->wait(receive, timeout_ms, completion), WaitOutcome::timed_out); }).wall;
      left[which] = true;
    };
    std::thread leader(run, 0), follower(run, 1);
    while (!left[0] || !left[1]) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (!left[1]) ::pthread_kill(follower.native_handle(), SIGUSR1);
      if (!left[0]) ::pthread_kill(leader.native_handle(), SIGUSR1);
    }
    leader.join();
    follower.join();
    EXPECT_TRUE(b_->cancel(receive).value());
    return waited;
  }
  bool intr_ = false;
};

class endpoint_wait_intr : public endpoint_wait_signal {
 protected:
  endpoint_wait_intr() { intr_ = true; }
};

TEST_F(endpoint_wait_signal, wait__goes_on) {
  for (const TimeNs waited : signalled_waits(200)) EXPECT_GE(waited, 200 * kMillisecond);
}

// The timeout is longer than tests may take.
TEST_F(endpoint_wait_intr, wait__ends_as_if_timed_out) {
  for (const TimeNs waited : signalled_waits(900'000)) EXPECT_LT(waited, 900'000 * kMillisecond);
}

class endpoint_wait_spin : public endpoint_wait {
 protected:
  Settings settings() override {
    Settings s = endpoint_wait::settings();
    s.waiting.spin_forever = true;
    return s;
  }
};

TEST_F(endpoint_wait_spin, wait__never_sleeps_but_times_out) {
  Bytes buffer(16);
  Request* receive = post(*b_, buffer, 1);
  Completion completion;
  EXPECT_EQ(b_->wait(receive, 50, completion), WaitOutcome::timed_out);
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    send(*a_, to_b_, pattern(16, 1), 1, true);
  });
  EXPECT_EQ(b_->wait(receive, kForever, completion), WaitOutcome::done);
  sender.join();
}

// The thread cannot be cancelled while it holds the endpoint's lock or leads, but only afterwards.
TEST_F(endpoint_wait, cancelled_thread_leaves_the_endpoint_usable) {
  std::atomic<bool> returned{false};
  pthread_t thread;
  struct Arguments {
    Endpoint* endpoint;
    std::atomic<bool>* returned;
  } arguments{b_, &returned};
  const auto body = [](void* pointer) -> void* {
    auto* a = static_cast<Arguments*>(pointer);
    Completion completion;
    a->endpoint->wait_any(0, 0, 100, completion);
    *a->returned = true;
    pthread_testcancel();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, nullptr, body, &arguments), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_TRUE(returned);
  Completion completion;
  for (int i = 0; i < 3; i++) EXPECT_EQ(b_->wait_any(0, 0, 5, completion), WaitOutcome::timed_out);
}

}  // namespace
}  // namespace omx::runtime
