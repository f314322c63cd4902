// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/endpoint_lock.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "runtime/clock.h"

namespace omx::runtime {
namespace {

TEST(endpoint_lock, recursive_with_owner) {
  EndpointLock lock;
  EXPECT_FALSE(lock.owned());
  lock.lock();
  lock.lock();
  EXPECT_TRUE(lock.try_lock());
  EXPECT_EQ(lock.depth(), 3U);
  EXPECT_TRUE(lock.owned());
  std::thread([&] {
    EXPECT_FALSE(lock.owned());
    EXPECT_FALSE(lock.try_lock());
  }).join();
  lock.unlock();
  lock.unlock();
  EXPECT_TRUE(lock.owned());
  lock.unlock();
  EXPECT_FALSE(lock.owned());
  std::thread([&] {
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
  }).join();
}

TEST(endpoint_lock, excludes) {
  EndpointLock lock;
  long count = 0;
  std::vector<std::thread> threads;
  threads.reserve(16);
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; i++) {
        lock.lock();
        if (i % 3 == 0) {
          lock.lock();
          count++;
          lock.unlock();
        } else {
          count++;
        }
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 160000);
}

// A poll loop takes and releases the lock all the time. Other threads must get it soon all the same.
TEST(endpoint_lock, give_way__lets_others_in) {
  EndpointLock lock;
  std::atomic<bool> stop{false};
  std::thread poller([&] {
    while (!stop) {
      lock.lock();
      for (int i = 0; i < 20; i++) cpu_relax();
      lock.unlock();
      lock.give_way();
    }
  });
  const TimeNs start = clock_now();
  for (int i = 0; i < 1000; i++) {
    lock.lock();
    lock.unlock();
  }
  const TimeNs took = clock_now() - start;
  stop = true;
  poller.join();
  EXPECT_LT(took, 5'000'000'000U);
}

TEST(parker, unpark_before_park_is_remembered) {
  Parker parker;
  parker.unpark();
  EXPECT_EQ(parker.park(protocol::kNever), FutexWait::woken);
}

TEST(parker, timeout) {
  Parker parker;
  const TimeNs deadline = clock_now() + 2 * protocol::kMillisecond;
  EXPECT_EQ(parker.park(deadline), FutexWait::timed_out);
  EXPECT_GE(clock_now(), deadline);
}

TEST(parker, woken_by_another_thread) {
  Parker parker;
  std::thread other([&] { parker.unpark(); });
  EXPECT_EQ(parker.park(protocol::kNever), FutexWait::woken);
  other.join();
}

TEST(clock, deadline_after_ms__does_not_overflow) {
  EXPECT_EQ(deadline_after_ms(5, 0), 5U);
  EXPECT_EQ(deadline_after_ms(5, 2), 2'000'005U);
  EXPECT_EQ(deadline_after_ms(5, ~std::uint64_t{0}), protocol::kNever);
  EXPECT_EQ(deadline_after_ms(5, 1ULL << 44), protocol::kNever);
  EXPECT_LT(deadline_after_ms(5, 1ULL << 40), protocol::kNever);
}

}  // namespace
}  // namespace omx::runtime
