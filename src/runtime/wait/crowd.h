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
class Calm {
 public:
  bool lasts(TimeNs now) const { return now < until_.load(std::memory_order_relaxed); }
  void seen(TimeNs now) { until_.store(now + kFor, std::memory_order_relaxed); }

 private:
  static constexpr TimeNs kFor = 100'000;
  std::atomic<TimeNs> until_{0};
};

// One busy wait of one thread.
class Spin {
 public:
  ~Spin() { stop(); }
  // Threads of this process that spin now.
  static int spinning();
  // How many processors this process has for its threads, where those that wait were bound to fewer; 0: as
  // many as the first that waits.
  static void processors_are(int count);
  // Whether it may go on. Cheap: what costs system calls is done now and then.
  bool allowed(TimeNs now);
  void stop();

 private:
  bool crowded(TimeNs now);

  bool counted_ = false;  // among the spinners of this process
  unsigned crowded_ = 0;  // looks in a row that found a crowd
  TimeNs next_look_ = 0;
  long preempted_ = -1;  // times this thread was, at the last look
};

// Applications that poll without end, one call after the other.
class PollCourtesy {
 public:
  // After a look; true: the thread should give its processor away.
  bool yield_due(bool found) {
    if (found) {
      if (idle_ >= kIdle) spin_.stop();
      idle_ = 0;
      return false;
    }
    return ++idle_ % kIdle == 0 && !spin_.allowed(clock_now());
  }

 private:
  // So many looks in vain take longer than the answer to a short message.
  static constexpr unsigned kIdle = 64;
  unsigned idle_ = 0;
  Spin spin_;
};

}  // namespace omx::runtime
