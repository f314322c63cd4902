// SPDX-License-Identifier: BSD-3-Clause
// Messages for people: one line each, printed where the cause is first known. Lines go to stderr. With a log
// file (base/log_file.h) all lines go to the file, and only errors and warnings to stderr as well. An error
// or a warning begins with its number in the catalogue (base/messages/catalogue.h).
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <string_view>

namespace omx {

// summary: one line about the whole process. info: facts about endpoints and peers.
enum class LogLevel : int { error = 0, warn = 1, summary = 2, info = 3 };

// The highest level that is printed: warn by default. OMX_VERBOSE raises it.
extern std::atomic<int> g_log_level;

// Sets the text in front of every line (OMX_VERBOSE_PREFIX). Not thread-safe: call it before endpoints are
// opened.
void log_set_prefix(std::string_view prefix);

void log_line(LogLevel level, std::string_view text);
// Prints a line that has its own beginning instead of the prefix, whatever the level in force.
void log_plain(LogLevel level, std::string_view line);

inline bool log_enabled(LogLevel level) {
  return static_cast<int>(level) <= g_log_level.load(std::memory_order_relaxed);
}

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace omx
