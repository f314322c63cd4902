// SPDX-License-Identifier: BSD-3-Clause
// The handshake between a thread that goes to sleep and another thread that has news for it.
//
//   sleeper                                  notifier
//   1. flag.arm()                            1. publishes the news
//   2. looks for news, sleeps if none        2. if (flag.take()) wakes the sleeper
//
// Each side writes one word and then reads the other's. A processor, even x86, may delay the write until
// after the read. Then both sides read old values: the sleeper sees no news, the notifier sees no sleeper,
// and the sleep never ends. Release and acquire do not forbid that.
//
// So both sides exchange one and the same word, and two exchanges of one word have an order. If the sleeper's
// is first, take() reads what arm() wrote. If the notifier's is first, arm() acquires what take() released,
// and the sleeper finds the news. disarm() exchanges as well, because a plain store would cut the chain
// between the two.
//
// The sleeper sets the word and both sides clear it, always with acquire and release. The word may lie in
// memory that two processes share. Zeroed memory is a flag that is not armed.
#pragma once

#include <atomic>
#include <cstdint>

namespace omx {

// `Atomic` is another template only where a test explores what a memory model permits.
template <template <class> class Atomic = std::atomic>
class BasicWakeFlag {
 public:
  static constexpr std::uint32_t kIdle = 0, kArmed = 1;

  // Announces a sleep. The sleeper calls it before it looks for news the last time.
  void arm() { word_.exchange(kArmed, std::memory_order_acq_rel); }
  // Withdraws the announcement. The sleeper calls it when it does not sleep, or is awake again.
  void disarm() { word_.exchange(kIdle, std::memory_order_acq_rel); }
  // Returns true, once for each arm(), if the sleeper must be woken. The notifier calls it after it published
  // news.
  bool take() { return word_.exchange(kIdle, std::memory_order_acq_rel) != kIdle; }
  // Does what take() does at the cost of one load, for news that are ordered by themselves. Both sides use
  // one lock for the news, or read-modify-write operations of one word (acquire and release). The sleeper
  // does so after arm(). Then either the sleeper finds the news, or the notifier comes to the lock or word
  // after arm() and reads what arm() wrote.
  bool take_of_ordered_news() { return word_.load(std::memory_order_relaxed) != kIdle && take(); }

  // Returns whether the sleeper seems to sleep. The answer may be old, so it must not decide about waking.
  bool armed() const { return word_.load(std::memory_order_relaxed) != kIdle; }

  // Returns the word, for futex_wait(word, kArmed).
  Atomic<std::uint32_t>& word() { return word_; }

 private:
  Atomic<std::uint32_t> word_{kIdle};
};

using WakeFlag = BasicWakeFlag<>;

}  // namespace omx
