// SPDX-License-Identifier: BSD-3-Clause
// Explores what the memory model of C++ permits, with Relacy: every interleaving, and every old value that a
// load may return. The flag and the mark are the real ones. Only their atomic words are replaced. Earlier
// forms of them are explored as well and must be found wrong, which proves that the search finds such errors.
#include <gtest/gtest.h>

#include <ostream>

#include <relacy/relacy.hpp>
// Relacy's macros for programs that are written for it.
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno

#include "base/store_ahead.h"
#include "base/wake_flag.h"

namespace omx {
namespace {

rl::memory_order order_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return rl::mo_relaxed;
    case std::memory_order_acquire:
    case std::memory_order_consume:
      return rl::mo_acquire;
    case std::memory_order_release:
      return rl::mo_release;
    case std::memory_order_acq_rel:
      return rl::mo_acq_rel;
    case std::memory_order_seq_cst:
      break;
  }
  return rl::mo_seq_cst;
}

// A std::atomic whose loads return every value that the model permits.
template <class T>
class Explored {
 public:
  Explored(T value) { word_.store(value, rl::mo_relaxed, $); }
  T load(std::memory_order order) const { return word_.load(order_of(order), $); }
  void store(T value, std::memory_order order) { word_.store(value, order_of(order), $); }
  T exchange(T value, std::memory_order order) { return word_.exchange(value, order_of(order), $); }
  T fetch_add(T value, std::memory_order order) { return word_.fetch_add(value, order_of(order), $); }

 private:
  rl::atomic<T> word_;
};

struct ExploredFences {
  static void release() { rl::atomic_thread_fence(rl::mo_release, $); }
  static void acquire() { rl::atomic_thread_fence(rl::mo_acquire, $); }
};

// Returns whether no execution breaks the suite's rule.
template <class Suite>
bool holds() {
  rl::test_params params;
  params.search_type = rl::fair_full_search_scheduler_type;
  // Drops the history of a failed execution, which matters only when a test fails.
  std::ostream nowhere(nullptr);
  params.output_stream = &nowhere;
  params.progress_stream = &nowhere;
  return rl::simulate<Suite>(params);
}

// --- one thread goes to sleep, another one has news ---

using Flag = BasicWakeFlag<Explored>;

// Thread 0 publishes, thread 1 sleeps. The rule: thread 1 does not sleep while there is news that it was not
// woken for.
template <class Handshake>
struct Sleep : rl::test_suite<Sleep<Handshake>, 2> {
  Handshake handshake;
  bool told = false, slept = false;
  void thread(unsigned index) {
    if (index == 0)
      told = handshake.publish();
    else
      slept = !handshake.look();
  }
  void after() { RL_ASSERT(!slept || told); }
};

struct WithFlag {
  Flag flag;
  Explored<int> news{0};
  bool publish() {
    news.store(1, std::memory_order_release);
    return flag.take();
  }
  bool look() {
    flag.arm();
    return news.load(std::memory_order_acquire) != 0;
  }
};

// The earlier form in the queues of libfabric: a release store and a load, against a store and a load.
struct WithStores {
  Explored<int> news{0}, armed{0};
  bool publish() {
    news.store(1, std::memory_order_release);
    return armed.load(std::memory_order_seq_cst) != 0 && armed.exchange(0, std::memory_order_seq_cst) != 0;
  }
  bool look() {
    armed.store(1, std::memory_order_seq_cst);
    return news.load(std::memory_order_acquire) != 0;
  }
};

TEST(memory_model, wake_flag__no_news_are_missed) {
  EXPECT_TRUE(holds<Sleep<WithFlag>>());
}

TEST(memory_model, stores_and_loads_miss_news) {
  EXPECT_FALSE(holds<Sleep<WithStores>>());
}

// The sleeper disarms before it ever armed, as a reader of several rings does.
struct WithDisarm : WithFlag {
  bool look() {
    flag.disarm();
    return WithFlag::look();
  }
};

struct WithPlainDisarm : WithFlag {
  bool look() {
    flag.word().store(Flag::kIdle, std::memory_order_seq_cst);
    return WithFlag::look();
  }
};

TEST(memory_model, wake_flag__disarmed_first) {
  EXPECT_TRUE(holds<Sleep<WithDisarm>>());
}

TEST(memory_model, a_store_instead_of_disarm_misses_news) {
  EXPECT_FALSE(holds<Sleep<WithPlainDisarm>>());
}

// News under a lock, which the sleeper takes when it looks for news (completion queues).
struct WithLock {
  Flag flag;
  rl::mutex lock;
  rl::var<int> news{0};
  bool publish() {
    lock.lock($);
    news($) = 1;
    lock.unlock($);
    return flag.take_of_ordered_news();
  }
  bool look() {
    flag.arm();
    lock.lock($);
    const bool found = news($) != 0;
    lock.unlock($);
    return found;
  }
};

// Looks for news before the flag is armed.
struct WithLockTooEarly : WithLock {
  bool look() {
    lock.lock($);
    const bool found = news($) != 0;
    lock.unlock($);
    flag.arm();
    return found;
  }
};

TEST(memory_model, wake_flag__news_under_a_lock) {
  EXPECT_TRUE(holds<Sleep<WithLock>>());
}

TEST(memory_model, a_look_before_arm_misses_news) {
  EXPECT_FALSE(holds<Sleep<WithLockTooEarly>>());
}

// News in one word that both sides modify (counters).
struct WithCount {
  Flag flag;
  Explored<int> news{0};
  bool publish() {
    news.fetch_add(1, std::memory_order_acq_rel);
    return flag.take_of_ordered_news();
  }
  bool look() {
    flag.arm();
    news.fetch_add(0, std::memory_order_acq_rel);
    return news.load(std::memory_order_acquire) != 0;
  }
};

struct WithCountOnlyLoaded : WithCount {
  bool look() {
    flag.arm();
    return news.load(std::memory_order_acquire) != 0;
  }
};

TEST(memory_model, wake_flag__news_in_a_word_that_both_modify) {
  EXPECT_TRUE(holds<Sleep<WithCount>>());
}

TEST(memory_model, a_look_without_an_order_misses_news) {
  EXPECT_FALSE(holds<Sleep<WithCountOnlyLoaded>>());
}

// --- plain data and a mark beside it ---

// Thread 0 ends what the mark says and writes new data, thread 1 reads the data and then the mark. The rule:
// no new data under the old mark.
template <class Writer>
struct Marked : rl::test_suite<Marked<Writer>, 2> {
  Explored<int> mark{1}, data{1};
  int data_read = 0, mark_read = 0;
  void thread(unsigned index) {
    if (index == 0) {
      Writer::end(mark);
      data.store(2, std::memory_order_relaxed);
      return;
    }
    data_read = data.load(std::memory_order_relaxed);
    ExploredFences::acquire();
    mark_read = mark.load(std::memory_order_relaxed);
  }
  void after() { RL_ASSERT(!(data_read == 2 && mark_read == 1)); }
};

struct StoreAhead {
  static void end(Explored<int>& mark) { store_ahead<ExploredFences>(mark, 0); }
};
// The earlier form in which regions of memory inside a host ended.
struct SequentialStore {
  static void end(Explored<int>& mark) { mark.store(0, std::memory_order_seq_cst); }
};
// The earlier form in which the view of an endpoint for other processes began.
struct Exchange {
  static void end(Explored<int>& mark) { mark.exchange(0, std::memory_order_acq_rel); }
};

TEST(memory_model, store_ahead__is_seen_before_what_follows) {
  EXPECT_TRUE(holds<Marked<StoreAhead>>());
}

TEST(memory_model, a_sequential_store_may_be_passed) {
  EXPECT_FALSE(holds<Marked<SequentialStore>>());
}

TEST(memory_model, an_exchange_may_be_passed) {
  EXPECT_FALSE(holds<Marked<Exchange>>());
}

}  // namespace
}  // namespace omx
