// SPDX-License-Identifier: BSD-3-Clause
// The handshake of base/wake_flag.h on this machine's processors. memory_model_test.cc and arm64_order.py
// examine what other processors may do.
#include "base/wake_flag.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace omx {
namespace {

TEST(wake_flag, is_taken_once_for_each_time_it_was_armed) {
  WakeFlag flag;
  EXPECT_FALSE(flag.take());
  flag.arm();
  EXPECT_TRUE(flag.take());
  EXPECT_FALSE(flag.take());
  EXPECT_FALSE(flag.take_of_ordered_news());
  flag.arm();
  flag.arm();
  EXPECT_TRUE(flag.take_of_ordered_news());
  EXPECT_FALSE(flag.take_of_ordered_news());
  flag.arm();
  flag.disarm();
  EXPECT_FALSE(flag.take());
}

TEST(wake_flag, zeroed_memory_is_one_that_is_not_armed) {
  alignas(WakeFlag) unsigned char memory[sizeof(WakeFlag)] = {};
  EXPECT_FALSE(reinterpret_cast<WakeFlag*>(memory)->take());
}

// Two threads walk along the same cells at about the same time, many times, and each does its own step in
// each cell. There are many cells, and their words lie apart, so that stores wait for their cache lines while
// loads go on.
class Walks {
 public:
  static constexpr std::size_t kCells = 256;

  // Runs sleeper(cell, round), which returns whether it found news, in one thread. Runs notifier(cell,
  // round), which returns whether it found a sleeper, in another. Returns how many news were missed, that is,
  // found by neither.
  template <class Sleeper, class Notifier>
  unsigned missed(Sleeper sleeper, Notifier notifier) {
    std::thread thread([&] {
      for (unsigned round = 1; meet(round, notifier_at_, sleeper_at_); round++) {
        for (std::size_t i = 0; i < kCells; i++) told_[i] = notifier(i, round);
        meet(round, notifier_done_, sleeper_done_);
      }
    });
    unsigned missed = 0;
    const TimeNs end = clock_now() + kTime;
    for (unsigned round = 1; clock_now() < end; round++) {
      meet(round, sleeper_at_, notifier_at_);
      for (std::size_t i = 0; i < kCells; i++) found_[i] = sleeper(i, round);
      meet(round, sleeper_done_, notifier_done_);
      for (std::size_t i = 0; i < kCells; i++) missed += !found_[i] && !told_[i];
    }
    over_ = true;
    thread.join();
    return missed;
  }

 private:
  static constexpr TimeNs kTime = 500'000'000;
  struct alignas(128) Line {
    std::atomic<unsigned> value{0};
  };
  // Waits for the other thread's round. Returns false if there is no such round.
  bool meet(unsigned round, Line& mine, const Line& theirs) const {
    mine.value.store(round, std::memory_order_release);
    for (unsigned looks = 1; theirs.value.load(std::memory_order_acquire) < round; looks++) {
      if (over_) return false;
      if (looks % 1024 == 0) std::this_thread::yield();
    }
    return true;
  }

  Line sleeper_at_, notifier_at_, sleeper_done_, notifier_done_;
  std::atomic<bool> over_{false};
  alignas(128) std::array<bool, kCells> found_{};
  alignas(128) std::array<bool, kCells> told_{};
};

TEST(wake_flag, no_news_are_missed) {
  struct Cell {
    alignas(64) WakeFlag flag;
    alignas(64) std::atomic<unsigned> news{0};
  };
  const auto cells = std::make_unique<std::array<Cell, Walks::kCells>>();
  const unsigned missed = Walks().missed(
      [&](std::size_t i, unsigned round) {
        (*cells)[i].flag.arm();
        return (*cells)[i].news.load(std::memory_order_acquire) == round;
      },
      [&](std::size_t i, unsigned round) {
        (*cells)[i].news.store(round, std::memory_order_release);
        return (*cells)[i].flag.take();
      });
  EXPECT_EQ(missed, 0U);
}

TEST(wake_flag, no_news_under_a_lock_are_missed) {
  struct Cell {
    alignas(64) WakeFlag flag;
    alignas(64) std::mutex lock;
    unsigned news = 0;
  };
  const auto cells = std::make_unique<std::array<Cell, Walks::kCells>>();
  const unsigned missed = Walks().missed(
      [&](std::size_t i, unsigned round) {
        (*cells)[i].flag.arm();
        const std::lock_guard guard((*cells)[i].lock);
        return (*cells)[i].news == round;
      },
      [&](std::size_t i, unsigned round) {
        {
          const std::lock_guard guard((*cells)[i].lock);
          (*cells)[i].news = round;
        }
        return (*cells)[i].flag.take_of_ordered_news();
      });
  EXPECT_EQ(missed, 0U);
}

}  // namespace
}  // namespace omx
