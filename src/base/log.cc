// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <unistd.h>

#include <string>

#include "base/no_cancel.h"

namespace omx {

std::atomic<int> g_log_level{static_cast<int>(LogLevel::warn)};

namespace {
std::string& prefix_text() {
  // Never destroyed: a progress thread may have something to say while the process exits.
  static std::string& prefix = *new std::string("OMX: ");
  return prefix;
}
}  // namespace

void log_set_prefix(std::string_view prefix) {
  prefix_text() = prefix;
}

void log_line(LogLevel level, std::string_view text) {
  static constexpr std::string_view kNames[] = {"error: ", "warning: ", "", "debug: "};
  std::string line = prefix_text();
  line += kNames[static_cast<int>(level)];
  line += text;
  line += '\n';
  const NoCancel no_cancel;
  // One write per line, so that lines of several processes do not mix.
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace omx
