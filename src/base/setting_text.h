// SPDX-License-Identifier: BSD-3-Clause
// Settings as people write them: lines "key = value" of a file, and kinds of values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omx {

struct SettingLine {
  int number = 0;                         // the first line of the file is 1
  std::string_view text;                  // all of the line but its comment
  std::optional<std::string_view> value;  // without quotes around it; none: the line has no '='
  std::string_view key;                   // empty if there is no value
};

// Returns the lines of a file that are not empty. A '#' outside quotes, at a line's start or after a blank,
// begins a comment. The lines point into `text`.
std::vector<SettingLine> setting_lines(std::string_view text);

// Parses yes or no in the usual words.
std::optional<bool> boolean_parse(std::string_view text);
// Parses a number that K, M or G may follow. `factor` is the size of K: 1024 for bytes, 1000 for rates.
std::optional<std::uint64_t> number_parse_units(std::string_view text, std::uint64_t factor);

// Describes a number for messages.
std::string number_accepted(std::uint64_t low, std::uint64_t high);

}  // namespace omx
