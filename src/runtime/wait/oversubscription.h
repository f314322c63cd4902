// SPDX-License-Identifier: BSD-3-Clause
// Whether somebody else needs the processor on which a thread waits busily. With more runnable threads than
// processors, each that spins keeps those from running that it waits for.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/clock.h"

namespace omx::runtime {

// Threads of this host that run or want to, out of the text of /proc/loadavg.
std::optional<unsigned> runnable_parse(std::string_view loadavg);

// Where there was room to spare there will be for a while: a look costs as much as a short message. Of the
// process, as its threads see the same host.
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
  // Whether it may go on. Cheap: what costs system calls is done now and then.
  bool allowed(TimeNs now);
  void stop();

 private:
  bool oversubscribed(TimeNs now);

  bool counted_ = false;         // among the spinners of this process
  unsigned oversubscribed_ = 0;  // looks in a row that found a crowd
  TimeNs next_check_ = 0;
  long preempted_ = -1;  // times this thread was, at the last look
};

// Applications that poll without end, one call after the other.
class PollingFairness {
 public:
  // After a look; true: the thread should give its processor away.
  bool yield_due(bool found) {
    if (found) {
      if (idle_ >= kIdlePolls) detector_.stop();
      idle_ = 0;
      return false;
    }
    return ++idle_ % kIdlePolls == 0 && !detector_.allowed(clock_now());
  }

 private:
  // So many looks in vain take longer than the answer to a short message.
  static constexpr unsigned kIdlePolls = 64;
  unsigned idle_ = 0;
  OversubscriptionDetector detector_;
};

}  // namespace omx::runtime
