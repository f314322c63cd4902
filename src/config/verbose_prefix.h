// SPDX-License-Identifier: BSD-3-Clause
// The prefix of log lines, OMX_VERBOSE_PREFIX (docs/spec/protocol.md 19.1).
#pragma once

#include <optional>
#include <string>

namespace omx::runtime {

// The values of %p %e %b %B %H in the prefix. Endpoint and board are those of the first endpoint that the
// process opened; nearly all programs have only one.
struct PrefixFacts {
  int pid = 0;
  std::string host;
  std::string endpoint = "-", board = "-", board_name = "-";
};
// Expands the letters in a prefix. "[a-b]" behind %B or %H keeps the characters a to b (from 0). "1" stands
// for "OMX:%H:%p ". Returns nullopt if the text is no valid prefix (an unknown % letter, a bad range).
std::optional<std::string> verbose_prefix_expand(const std::string& format, const PrefixFacts& facts);

}  // namespace omx::runtime
