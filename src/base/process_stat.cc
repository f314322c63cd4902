// SPDX-License-Identifier: BSD-3-Clause
#include "base/process_stat.h"

#include <fmt/format.h>

#include <string_view>

#include "base/number.h"
#include "base/text.h"
#include "base/text_file.h"

namespace omx {

std::optional<ProcessStat> process_stat(pid_t pid) {
  const auto text = text_file_read(fmt::format("/proc/{}/stat", pid));
  if (!text) return std::nullopt;
  // The name of the program is in parentheses and may hold anything. Behind it come field 3, the state, and
  // field 22, the start.
  constexpr std::size_t kState = 0, kStart = 19;
  const std::size_t end = text->rfind(')');
  if (end == std::string::npos) return std::nullopt;
  const auto fields = words_of(std::string_view(*text).substr(end + 1));
  if (fields.size() <= kStart) return std::nullopt;
  const auto started = number_parse(fields[kStart]);
  if (!started) return std::nullopt;
  return ProcessStat{fields[kState].front(), *started};
}

}  // namespace omx
