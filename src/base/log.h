// SPDX-License-Identifier: BSD-3-Clause
// Messages for people: one line each on stderr, printed where the cause is first known.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <string_view>

namespace omx {

enum class LogLevel : int { error = 0, warn = 1, info = 2, debug = 3 };

// What is printed: error and warn by default; OMX_VERBOSE raises it (runtime/settings).
extern std::atomic<int> g_log_level;

// The text in front of every line (OMX_VERBOSE_PREFIX). Not thread-safe: set before endpoints are opened.
void log_set_prefix(std::string_view prefix);

void log_line(LogLevel level, std::string_view text);

inline bool log_enabled(LogLevel level) {
  return static_cast<int>(level) <= g_log_level.load(std::memory_order_relaxed);
}

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace omx
