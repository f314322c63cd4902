// SPDX-License-Identifier: BSD-3-Clause
// Whole decimal numbers in text.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace omx {

inline bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Parses a number. Returns nullopt if anything stands before or behind it.
inline std::optional<std::uint64_t> number_parse(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

}  // namespace omx
