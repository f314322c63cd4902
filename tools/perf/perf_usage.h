// SPDX-License-Identifier: BSD-3-Clause
// What a process or thread spends on a measured step: processor time (getrusage) and processor cycles
// (perf_event_open), where the kernel counts them.
#pragma once

#include <cstdint>
#include <string>

namespace omx::tools {

struct PerfUsage {
  // The bits of `known`, as the dialogue carries them.
  static constexpr std::uint64_t kTimes = 1, kCycles = 2;
  static constexpr std::uint64_t kUserCycles = 4;  // the kernel's cycles are not counted
  static constexpr std::uint64_t kThread = 8;      // of one thread; without this bit of its whole process

  std::uint64_t known = 0;
  std::uint64_t user_ns = 0, system_ns = 0;
  std::uint64_t cycles = 0;  // without kCycles: the errno that says why they are not known

  std::uint64_t times_ns() const { return user_ns + system_ns; }
  // Adds the usage of a later step, or of another process. What one of them does not know is not known of the
  // sum.
  void add(const PerfUsage& other);
  // Returns why the cycles are not known.
  std::string cycles_missing() const;
};

class PerfMeter {
 public:
  enum class Scope { process, thread };

  // Opens the counter of cycles. A meter of the process counts the threads that begin later, too.
  explicit PerfMeter(Scope scope);
  ~PerfMeter();
  PerfMeter(const PerfMeter&) = delete;
  PerfMeter& operator=(const PerfMeter&) = delete;

  void start() { before_ = read(); }
  // Returns what was spent since start().
  PerfUsage stop() const;

 private:
  struct Reading {
    std::uint64_t user_ns = 0, system_ns = 0;
    std::uint64_t cycles = 0, enabled_ns = 0, running_ns = 0;
    bool times_read = false, cycles_read = false;
  };
  Reading read() const;

  const Scope scope_;
  int counter_ = -1;
  int errno_ = 0;  // why there is no counter
  bool user_only_ = false;
  Reading before_;
};

}  // namespace omx::tools
