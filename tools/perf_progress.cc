// SPDX-License-Identifier: BSD-3-Clause
#include "perf_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace omx::tools {

namespace {

constexpr const char* kEraseLine = "\r\033[K";

}  // namespace

PerfProgress::PerfProgress(std::uint64_t size, std::uint64_t messages)
    : size_(size), messages_(messages), terminal_(::isatty(STDERR_FILENO) == 1) {
  if (terminal_) fmt::print(stderr, "{}  {} bytes: warming up", kEraseLine, size_);
}

PerfProgress::~PerfProgress() {
  if (terminal_) fmt::print(stderr, "{}", kEraseLine);
}

void PerfProgress::show(std::uint64_t done, double seconds) const {
  if (!terminal_) return;
  fmt::print(stderr, "{}  {} bytes: {} of {} messages, {:.1f} s", kEraseLine, size_, done, messages_,
             seconds);
}

}  // namespace omx::tools
