// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace omx::tools {

namespace {

constexpr const char* kEraseLine = "\r\033[K";
constexpr double kUnsignedSeconds = 0.5;

}  // namespace

PerfProgress::PerfProgress(std::uint64_t size, std::uint64_t messages, bool wanted)
    : size_(size), messages_(messages), terminal_(wanted && ::isatty(STDERR_FILENO) == 1) {}

PerfProgress::~PerfProgress() {
  if (shown_) fmt::print(stderr, "{}", kEraseLine);
}

void PerfProgress::show(std::uint64_t done) {
  if (!terminal_) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (seconds < kUnsignedSeconds) return;
  shown_ = true;
  if (done)
    fmt::print(stderr, "{}  {} bytes: {} of {} messages, {:.1f} s", kEraseLine, size_, done, messages_,
               seconds);
  else
    fmt::print(stderr, "{}  {} bytes: warming up, {:.1f} s", kEraseLine, size_, seconds);
}

}  // namespace omx::tools
