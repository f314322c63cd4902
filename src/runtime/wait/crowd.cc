// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/crowd.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/no_cancel.h"

namespace omx::runtime {

namespace {

// Most waits end before the first look, which costs about two microseconds.
constexpr TimeNs kFirstLook = 5'000, kNextLook = 20'000;
// Whoever runs for a moment, as kernel threads do, is no crowd.
constexpr TimeNs kAway = 100'000;
constexpr unsigned kLooks = 2;

std::atomic<int> g_spinners{0};
std::atomic<int> g_processors{0};  // 0: not told
Calm g_calm;

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
  // Kept open: a pread costs a third. A forked child may use it, too.
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

bool Spin::crowded(TimeNs now) {
  if (next_look_ == 0) next_look_ = now + kFirstLook;
  if (now < next_look_ || g_calm.lasts(now)) return false;
  const NoCancel no_cancel;  // its caller may hold a lock
  const bool away = now > next_look_ + kAway;
  next_look_ = now + kNextLook;
  const long before = preempted_;
  preempted_ = preemptions();
  // Somebody else had this very processor for a while, however many are idle elsewhere.
  if (away && before >= 0 && preempted_ > before) return true;
  crowded_ = runnable() > processors_all() ? crowded_ + 1 : 0;
  if (crowded_ == 0) g_calm.seen(now);
  return crowded_ >= kLooks;
}

int Spin::spinning() {
  return g_spinners.load(std::memory_order_relaxed);
}

void Spin::processors_are(int count) {
  g_processors.store(count, std::memory_order_relaxed);
}

bool Spin::allowed(TimeNs now) {
  if (!counted_) {
    g_spinners.fetch_add(1, std::memory_order_relaxed);
    counted_ = true;
  }
  return spinning() <= processors_mine() && !crowded(now);
}

void Spin::stop() {
  if (counted_) g_spinners.fetch_sub(1, std::memory_order_relaxed);
  counted_ = false;
  next_look_ = 0;
  crowded_ = 0;
  preempted_ = -1;
}

}  // namespace omx::runtime
