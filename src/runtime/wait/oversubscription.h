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

// Returns how many threads of this host run or want to run, parsed from the text of /proc/loadavg.
std::optional<unsigned> runnable_parse(std::string_view loadavg);

// Remembers for a while what a check found, because a check costs as much as a short message. All threads of
// a process share one object, since they see the same host.
class Recently {
 public:
  explicit constexpr Recently(TimeNs lasting) : lasting_(lasting) {}
  bool lasts(TimeNs now) const { return now < until_.load(std::memory_order_relaxed); }
  void seen(TimeNs now) { until_.store(now + lasting_, std::memory_order_relaxed); }

 private:
  const TimeNs lasting_;
  std::atomic<TimeNs> until_{0};
};

// One busy wait of one thread.
class OversubscriptionDetector {
 public:
  ~OversubscriptionDetector() { stop(); }
  // Returns how many threads of this process spin now.
  static int spinning();
  // Returns whether some wait of this process found the host oversubscribed a moment ago, or more of its
  // threads spin than have processors.
  static bool crowded(TimeNs now);
  // Returns whether the host was found oversubscribed within the last tenth of a second, by a wait of this
  // process or by look().
  static bool crowded_lately(TimeNs now);
  // Looks whether other threads than this one and those that have a processor wait for one. `found` counts
  // looks in a row that find some. Returns whether it was the second one or a later one, which count. An MPI
  // that gives its processor away between two polls leaves no wait that could find out. Costs two
  // microseconds.
  static bool look(TimeNs now, unsigned& found);
  // Sets how many processors the threads of this process have, if threads that wait were bound to fewer.
  // With 0, the processors of the first thread that waits count.
  static void processors_are(int count);
  // Returns whether the wait may go on spinning. Cheap, since it makes system calls only now and then.
  bool allowed(TimeNs now);
  void stop();
  // Returns whether allowed() last said no, in this wait or an earlier one.
  bool refused() const { return refused_; }

 private:
  bool oversubscribed(TimeNs now);

  bool refused_ = false;
  bool counted_ = false;         // among the spinners of this process
  unsigned oversubscribed_ = 0;  // checks in a row that found the host oversubscribed
  TimeNs next_check_ = 0;
  long preempted_ = -1;  // how often this thread was preempted, at the last check
};

// For applications that poll indefinitely, one call after the other.
class PollingFairness {
 public:
  // Counts a poll. Returns whether the thread should give its processor away now.
  bool yield_due(bool found) {
    if (found) {
      if (idle_ >= kCrowdedPolls) detector_.stop();
      idle_ = 0;
      return false;
    }
    return ++idle_ % (detector_.refused() ? kCrowdedPolls : kIdlePolls) == 0 &&
           !detector_.allowed(clock_now());
  }

 private:
  // This many polls without a result take longer than the answer to a short message.
  static constexpr unsigned kIdlePolls = 64;
  // Where others need the processor, an answer that is not there at once takes as long as they run.
  static constexpr unsigned kCrowdedPolls = 16;
  unsigned idle_ = 0;
  OversubscriptionDetector detector_;
};

}  // namespace omx::runtime
