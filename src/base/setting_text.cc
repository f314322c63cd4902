// SPDX-License-Identifier: BSD-3-Clause
#include "base/setting_text.h"

#include <algorithm>

#include "base/number.h"

namespace omx {

namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); i++) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t'))
      return line.substr(0, i);
  }
  return line;
}

// Removes quotes, which keep blanks at the ends.
std::string_view unquote(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    return value.substr(1, value.size() - 2);
  return value;
}

// Returns how often a unit multiplies by the factor.
int unit_power(char unit) {
  constexpr std::string_view kUnits = "kKmMgG";
  const std::size_t at = kUnits.find(unit);
  return at == std::string_view::npos ? 0 : static_cast<int>(at / 2) + 1;
}

}  // namespace

std::vector<SettingLine> setting_lines(std::string_view text) {
  std::vector<SettingLine> lines;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    SettingLine line;
    line.text = trim(without_comment(text.substr(at, end - at)));
    line.number = ++number;
    at = end + 1;
    if (line.text.empty()) continue;
    const std::size_t equals = line.text.find('=');
    if (equals != std::string_view::npos) {
      line.key = trim(line.text.substr(0, equals));
      line.value = unquote(trim(line.text.substr(equals + 1)));
    }
    lines.push_back(line);
  }
  return lines;
}

std::optional<bool> boolean_parse(std::string_view text) {
  if (text == "1" || text == "yes" || text == "true" || text == "on") return true;
  if (text == "0" || text == "no" || text == "false" || text == "off") return false;
  return std::nullopt;
}

std::optional<std::uint64_t> number_parse_units(std::string_view text, std::uint64_t factor) {
  int power = text.empty() ? 0 : unit_power(text.back());
  if (power) text.remove_suffix(1);
  auto value = number_parse(text);
  for (; value && power > 0; power--) {
    if (*value > ~std::uint64_t{0} / factor) return std::nullopt;
    *value *= factor;
  }
  return value;
}

std::string number_accepted(std::uint64_t low, std::uint64_t high) {
  return "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
}

}  // namespace omx
