// SPDX-License-Identifier: BSD-3-Clause
// The lines that the coordinator of `omx check --hosts` and its agents exchange: a verb and named values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace omx::tools {

struct Record {
  std::string verb;
  std::vector<std::pair<std::string, std::string>> fields;

  Record& add(std::string key, std::string value) {
    fields.emplace_back(std::move(key), std::move(value));
    return *this;
  }
  Record& add(std::string key, std::uint64_t value) { return add(std::move(key), std::to_string(value)); }
  // Returns the value of the first field of that name, or an empty text.
  std::string_view text(std::string_view key) const;
  // Returns 0 where the field is missing or not a number.
  std::uint64_t number(std::string_view key) const;
};

inline constexpr std::size_t kRecordMost = 1 << 20;  // bytes of a line

// Returns one line, with its newline.
std::string record_line(const Record& record);
// Returns nothing for a line that is no record, as a login shell may print on the same channel.
std::optional<Record> record_parse(std::string_view line);

}  // namespace omx::tools
