// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_usage.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace omx::tools {

namespace {

int counter_open(bool whole_process, bool user_only) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.inherit = whole_process;
  attributes.exclude_kernel = user_only;
  attributes.exclude_hv = user_only;
  return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::uint64_t nanoseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1000000000 +
         static_cast<std::uint64_t>(time.tv_usec) * 1000;
}

}  // namespace

void PerfUsage::add(const PerfUsage& other) {
  constexpr std::uint64_t kBoth = kTimes | kCycles, kEither = kUserCycles | kThread;
  const std::uint64_t reason = known & kCycles ? other.cycles : cycles;
  known = (known & other.known & kBoth) | ((known | other.known) & kEither);
  user_ns += other.user_ns;
  system_ns += other.system_ns;
  cycles = known & kCycles ? cycles + other.cycles : reason;
}

std::string PerfUsage::cycles_missing() const {
  switch (const int code = static_cast<int>(cycles); code) {
    case EACCES:
    case EPERM:
      return "the kernel does not permit it (kernel.perf_event_paranoid, seccomp)";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "this machine has no counter of cycles, as many virtual machines";
    case ENOSYS:
      return "this kernel has no performance events";
    case EAGAIN:
      return "others used the counter meanwhile";
    default:
      return std::strerror(code);
  }
}

PerfMeter::PerfMeter(Scope scope) : scope_(scope) {
  const bool whole = scope == Scope::process;
  counter_ = counter_open(whole, false);
  if (counter_ < 0 && (errno == EACCES || errno == EPERM)) {
    user_only_ = true;
    counter_ = counter_open(whole, true);
  }
  if (counter_ < 0) errno_ = errno;
}

PerfMeter::~PerfMeter() {
  if (counter_ >= 0) ::close(counter_);
}

PerfMeter::Reading PerfMeter::read() const {
  Reading now;
  rusage usage{};
  now.times_read = ::getrusage(scope_ == Scope::process ? RUSAGE_SELF : RUSAGE_THREAD, &usage) == 0;
  now.user_ns = nanoseconds(usage.ru_utime);
  now.system_ns = nanoseconds(usage.ru_stime);
  std::uint64_t values[3];
  if (counter_ < 0 || ::read(counter_, values, sizeof values) != sizeof values) return now;
  now.cycles_read = true;
  now.cycles = values[0];
  now.enabled_ns = values[1];
  now.running_ns = values[2];
  return now;
}

PerfUsage PerfMeter::stop() const {
  const Reading now = read();
  PerfUsage usage;
  if (scope_ == Scope::thread) usage.known |= PerfUsage::kThread;
  if (now.times_read && before_.times_read) {
    usage.known |= PerfUsage::kTimes;
    usage.user_ns = now.user_ns - before_.user_ns;
    usage.system_ns = now.system_ns - before_.system_ns;
  }
  // A counter that others used for a part of the time would have to be extrapolated.
  const bool counted = now.cycles_read && before_.cycles_read && now.cycles > before_.cycles;
  const bool whole_time = now.enabled_ns - before_.enabled_ns == now.running_ns - before_.running_ns;
  if (counted && whole_time) {
    usage.known |= PerfUsage::kCycles | (user_only_ ? PerfUsage::kUserCycles : 0);
    usage.cycles = now.cycles - before_.cycles;
  } else {
    usage.cycles = static_cast<std::uint64_t>(errno_ ? errno_ : EAGAIN);
  }
  return usage;
}

}  // namespace omx::tools
