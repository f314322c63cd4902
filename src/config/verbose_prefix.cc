// SPDX-License-Identifier: BSD-3-Clause
#include "config/verbose_prefix.h"

#include <string_view>

#include "base/number.h"

namespace omx::runtime {

namespace {

// Applies "[a-b]" at `at`: cuts `text` and moves `at` behind it. Returns false when it is malformed.
bool range_apply(const std::string& format, std::size_t& at, std::string& text) {
  if (at >= format.size() || format[at] != '[') return true;
  const std::size_t dash = format.find('-', at);
  const std::size_t end = format.find(']', at);
  if (dash == std::string::npos || end == std::string::npos || dash > end) return false;
  const std::string_view view = format;
  const auto first = number_parse(view.substr(at + 1, dash - at - 1));
  const auto last = number_parse(view.substr(dash + 1, end - dash - 1));
  if (!first || !last || *first > *last) return false;
  text = *first < text.size() ? text.substr(*first, *last - *first + 1) : std::string();
  at = end + 1;
  return true;
}

}  // namespace

std::optional<std::string> verbose_prefix_expand(const std::string& format, const PrefixFacts& facts) {
  if (format == "1") return verbose_prefix_expand("OMX:%H:%p ", facts);
  std::string out;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      out += format[at++];
      continue;
    }
    const char letter = at + 1 < format.size() ? format[at + 1] : '\0';
    at += 2;
    std::string value;
    switch (letter) {
      case 'p':
        value = std::to_string(facts.pid);
        break;
      case 'e':
        value = facts.endpoint;
        break;
      case 'b':
        value = facts.board;
        break;
      case 'B':
        value = facts.board_name;
        break;
      case 'H':
        value = facts.host;
        break;
      case '%':
        value = "%";
        break;
      default:
        return std::nullopt;
    }
    if ((letter == 'B' || letter == 'H') && !range_apply(format, at, value)) return std::nullopt;
    out += value;
  }
  return out;
}

}  // namespace omx::runtime
