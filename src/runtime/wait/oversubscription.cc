// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/oversubscription.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/no_cancel.h"

namespace omx::runtime {

namespace {

// Most waits end before the first check, which costs about two microseconds.
constexpr TimeNs kFirstCheckNs = 5'000, kNextCheckNs = 20'000;
// A thread that runs for a moment only, as kernel threads do, does not count.
constexpr TimeNs kPreemptedNs = 100'000;
constexpr unsigned kChecks = 2;

std::atomic<int> g_spinners{0};
std::atomic<int> g_processors{0};  // 0: unknown
// A host with an idle processor will have one for a while. One with more to run than processors stays so for
// longer: a job that found this out in each of its waits spent most of its time on that.
Recently g_calm{100'000}, g_crowded{5'000'000}, g_crowded_lately{100'000'000};

int processors_mine() {
  if (const int told = g_processors.load(std::memory_order_relaxed)) return told;
  static const int count = [] {
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) < 0) return 1;
    return std::max(CPU_COUNT(&set), 1);
  }();
  return count;
}

unsigned processors_all() {
  static const unsigned count = static_cast<unsigned>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
  return count;
}

unsigned runnable() {
  // The file stays open, since a pread() alone costs a third. A forked child may use it, too.
  static const int fd = ::open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  char text[128];
  const ssize_t size = fd < 0 ? -1 : ::pread(fd, text, sizeof text, 0);
  return size <= 0 ? 0 : runnable_parse({text, static_cast<std::size_t>(size)}).value_or(0);
}

long preemptions() {
  rusage usage{};
  return ::getrusage(RUSAGE_THREAD, &usage) < 0 ? 0 : usage.ru_nivcsw;
}

}  // namespace

std::optional<unsigned> runnable_parse(std::string_view loadavg) {
  // "0.20 0.18 0.12 1/80 11206": three averages, then runnable/existing.
  for (int i = 0; i < 3; i++) {
    const std::size_t space = loadavg.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    loadavg.remove_prefix(space + 1);
  }
  unsigned value = 0;
  const auto [end, error] = std::from_chars(loadavg.data(), loadavg.data() + loadavg.size(), value);
  if (error != std::errc() || end == loadavg.data() + loadavg.size() || *end != '/') return std::nullopt;
  return value;
}

bool OversubscriptionDetector::oversubscribed(TimeNs now) {
  if (g_crowded.lasts(now)) return true;
  if (next_check_ == 0) next_check_ = now + kFirstCheckNs;
  if (now < next_check_ || g_calm.lasts(now)) return false;
  const NoCancel no_cancel;  // the caller may hold a lock
  const bool away = now > next_check_ + kPreemptedNs;
  next_check_ = now + kNextCheckNs;
  const long before = preempted_;
  preempted_ = preemptions();
  // Another thread had this very processor for a while, even if processors are idle elsewhere.
  if (away && before >= 0 && preempted_ > before) return true;
  oversubscribed_ = runnable() > processors_all() ? oversubscribed_ + 1 : 0;
  if (oversubscribed_ == 0) g_calm.seen(now);
  if (oversubscribed_ < kChecks) return false;
  g_crowded.seen(now);
  g_crowded_lately.seen(now);
  return true;
}

int OversubscriptionDetector::spinning() {
  return g_spinners.load(std::memory_order_relaxed);
}

bool OversubscriptionDetector::crowded(TimeNs now) {
  return g_crowded.lasts(now) || spinning() > processors_mine();
}

bool OversubscriptionDetector::look(TimeNs now, unsigned& found) {
  found = runnable() > processors_all() + 1 ? found + 1 : 0;
  if (found < kChecks) return false;
  g_crowded_lately.seen(now);
  return true;
}

bool OversubscriptionDetector::crowded_lately(TimeNs now) {
  return g_crowded_lately.lasts(now);
}

void OversubscriptionDetector::processors_are(int count) {
  g_processors.store(count, std::memory_order_relaxed);
}

bool OversubscriptionDetector::allowed(TimeNs now) {
  if (!counted_) {
    g_spinners.fetch_add(1, std::memory_order_relaxed);
    counted_ = true;
  }
  refused_ = spinning() > processors_mine() || oversubscribed(now);
  return !refused_;
}

void OversubscriptionDetector::stop() {
  if (counted_) g_spinners.fetch_sub(1, std::memory_order_relaxed);
  counted_ = false;
  next_check_ = 0;
  oversubscribed_ = 0;
  preempted_ = -1;
}

}  // namespace omx::runtime
