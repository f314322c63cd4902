// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/log_file.h"
#include "base/messages/catalogue.h"
#include "base/no_cancel.h"

namespace omx {

std::atomic<int> g_log_level{static_cast<int>(LogLevel::warn)};

namespace {
std::string& prefix_text() {
  // Never destroyed: a progress thread may still print while the process exits.
  static std::string& prefix = *new std::string("OMX: ");
  return prefix;
}

// Prints `line`, which ends in a newline.
void line_print(LogLevel level, std::string_view line) {
  const int error = errno;
  const NoCancel no_cancel;
  const bool filed = log_file_write(line);
  // One write per line, so that lines of several processes do not mix.
  if (!filed || level <= LogLevel::warn) [[maybe_unused]]
    const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  errno = error;
}
}  // namespace

void log_set_prefix(std::string_view prefix) {
  prefix_text() = prefix;
}

void log_line(LogLevel level, std::string_view text) {
  static constexpr std::string_view kNames[] = {"error: ", "warning: ", "", ""};
  std::string line = prefix_text();
  line += kNames[static_cast<int>(level)];
  if (level <= LogLevel::warn) line += messages::tag(text);
  line += text;
  line += '\n';
  line_print(level, line);
}

void log_plain(LogLevel level, std::string_view line) {
  line_print(level, std::string(line) + '\n');
}

}  // namespace omx
