// SPDX-License-Identifier: BSD-3-Clause
#include "copy/thread_engine.h"
#include "base/clock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>

#include "base/random.h"

namespace omx::copy {
namespace {

std::unique_ptr<CopyEngine> make(std::uint32_t most = 64) {
  auto engine = ThreadEngine::create({.most_outstanding = most});
  EXPECT_TRUE(engine.has_value());
  return std::move(*engine);
}

std::vector<std::byte> bytes_of(std::size_t count, std::uint64_t seed) {
  std::vector<std::byte> bytes(count);
  random_fill(bytes, seed);
  return bytes;
}

TEST(thread_engine, rounds_its_queue_up) {
  EXPECT_EQ(make(1)->capabilities().most_outstanding, 1U);
  EXPECT_EQ(make(5)->capabilities().most_outstanding, 8U);
  EXPECT_EQ(make(0)->capabilities().most_outstanding, 1U);
  EXPECT_TRUE(make()->capabilities().asynchronous);
}

TEST(thread_engine, many_lives) {
  const auto source = bytes_of(100, 1);
  for (int i = 0; i < 200; i++) {
    auto engine = make(4);
    std::vector<std::byte> destination(100);
    if (i % 3) engine->submit({source.data(), destination.data(), 100});
    if (i % 3 == 2) engine->drain(kNever);
    engine.reset();
    if (i % 3) {
      EXPECT_EQ(destination, source);
    }
  }
}

// The copy thread falls asleep between pieces, and the owner while it waits. No wake-up may be missed.
TEST(thread_engine, wakes_up_for_every_piece) {
  auto engine = make(4);
  const auto source = bytes_of(64, 1);
  std::vector<std::byte> destination(64);
  Random random(1);
  for (int i = 0; i < 3000; i++) {
    std::fill(destination.begin(), destination.end(), std::byte{0});
    engine->submit({source.data(), destination.data(), 64});
    for (std::uint64_t spins = random.below(3000); spins > 0; spins--) asm volatile("");
    ASSERT_TRUE(engine->drain(kNever));
    ASSERT_EQ(destination, source);
    for (std::uint64_t spins = random.below(20000); spins > 0; spins--) asm volatile("");
  }
}

TEST(thread_engine, drain_has_a_deadline) {
  auto engine = make(64);
  const auto source = bytes_of(8 << 20, 1);
  std::vector<std::byte> destination(8 << 20);
  for (int i = 0; i < 8; i++) engine->submit({source.data(), destination.data(), source.size()});
  if (!engine->drain(clock_now() + 1000)) {
    EXPECT_GT(engine->outstanding(), 0U);
  }
  EXPECT_TRUE(engine->drain(kNever));
  EXPECT_EQ(destination, source);
}

TEST(thread_engine, helper_gets_no_signals) {
  static volatile std::sig_atomic_t others = 0;
  static pthread_t owner;
  owner = ::pthread_self();
  auto engine = make();
  struct sigaction action = {}, before;
  action.sa_handler = [](int) {
    if (!::pthread_equal(owner, ::pthread_self())) others = 1;
  };
  ::sigaction(SIGUSR1, &action, &before);
  for (int i = 0; i < 100; i++) ::kill(::getpid(), SIGUSR1);
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(others, 0);
}

TEST(thread_engine, child_of_a_fork_is_refused) {
  auto engine = make(4);
  const auto source = bytes_of(100, 1);
  std::vector<std::byte> destination(100);
  const Ticket before = engine->submit({source.data(), destination.data(), 100}).ticket;
  engine->drain(kNever);
  const auto large = bytes_of(4 << 20, 2);
  std::vector<std::byte> large_to(4 << 20);
  const Ticket outstanding = engine->submit({large.data(), large_to.data(), large.size()}).ticket;
  const pid_t pid = ::fork();
  if (pid == 0) {
    bool right = engine->submit({source.data(), destination.data(), 100}).answer == Answer::unavailable;
    right &= engine->drain(kNever) && engine->completed() == outstanding;
    right &= !engine->failed(before) && engine->failed(outstanding) && *engine->disabled_reason() != '\0';
    engine.reset();  // waits for no thread
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(engine->drain(kNever));
  EXPECT_EQ(large_to, large);
  EXPECT_FALSE(engine->failed(outstanding));
}

TEST(thread_engine, one_owner_after_the_other) {
  auto engine = make(8);
  const auto source = bytes_of(1000, 1);
  std::vector<std::byte> destination(1000);
  std::thread([&] { engine->submit({source.data(), destination.data(), 1000}); }).join();
  std::thread([&] { EXPECT_TRUE(engine->drain(kNever)); }).join();
  EXPECT_EQ(destination, source);
}

}  // namespace
}  // namespace omx::copy
