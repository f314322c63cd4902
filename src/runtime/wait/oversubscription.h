// SPDX-License-Identifier: BSD-3-Clause
// Tells whether another thread needs the processor on which a thread waits busily. With more runnable threads
// than processors, each thread that spins keeps the threads that it waits for from running.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/clock.h"

namespace omx::runtime {

// Returns how many threads of this host run or want to run, out of the text of /proc/loadavg.
std::optional<unsigned> runnable_parse(std::string_view loadavg);

// A host that had an idle processor will have one for a while, so the next check can wait: a check costs as
// much as a short message. One for the process, as its threads see the same host.
class CheckBackOff {
 public:
  bool lasts(TimeNs now) const { return now < until_.load(std::memory_order_relaxed); }
  void seen(TimeNs now) { until_.store(now + kBackOffNs, std::memory_order_relaxed); }

 private:
  static constexpr TimeNs kBackOffNs = 100'000;
  std::atomic<TimeNs> until_{0};
};

// One busy wait of one thread.
class OversubscriptionDetector {
 public:
  ~OversubscriptionDetector() { stop(); }
  // Threads of this process that spin now.
  static int spinning();
  // How many processors this process has for its threads, where those that wait were bound to fewer; 0: as
  // many as the first that waits.
  static void processors_are(int count);
  // Returns whether the wait may go on spinning. Cheap: system calls are made now and then only.
  bool allowed(TimeNs now);
  void stop();

 private:
  bool oversubscribed(TimeNs now);

  bool counted_ = false;         // among the spinners of this process
  unsigned oversubscribed_ = 0;  // checks in a row that found the host oversubscribed
  TimeNs next_check_ = 0;
  long preempted_ = -1;  // times this thread was, at the last check
};

// Applications that poll without end, one call after the other.
class PollingFairness {
 public:
  // After a poll: returns whether the thread should give its processor away.
  bool yield_due(bool found) {
    if (found) {
      if (idle_ >= kIdlePolls) detector_.stop();
      idle_ = 0;
      return false;
    }
    return ++idle_ % kIdlePolls == 0 && !detector_.allowed(clock_now());
  }

 private:
  // As many polls without a result take longer than the answer to a short message.
  static constexpr unsigned kIdlePolls = 64;
  unsigned idle_ = 0;
  OversubscriptionDetector detector_;
};

}  // namespace omx::runtime
