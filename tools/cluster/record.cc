// SPDX-License-Identifier: BSD-3-Clause
#include "tools/cluster/record.h"

#include <fmt/format.h>

#include <charconv>

namespace omx::tools {

namespace {

// Both sides must be of one version of this protocol, which the number names.
constexpr std::string_view kMark = "omx-check-1\t";

void escaped_add(std::string& line, std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '%' || c == '=' || c == 0x7f) {
      line += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      line += c;
    }
  }
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); i++) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned value = 0;
    if (text.size() - i < 3) return std::nullopt;
    const char* end = text.data() + i + 3;
    if (std::from_chars(text.data() + i + 1, end, value, 16).ptr != end) return std::nullopt;
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

}  // namespace

std::string_view Record::text(std::string_view key) const {
  for (const auto& [name, value] : fields) {
    if (name == key) return value;
  }
  return {};
}

std::uint64_t Record::number(std::string_view key) const {
  const std::string_view value = text(key);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size() ? number : 0;
}

std::string record_line(const Record& record) {
  std::string line{kMark};
  escaped_add(line, record.verb);
  for (const auto& [key, value] : record.fields) {
    line += '\t';
    escaped_add(line, key);
    line += '=';
    escaped_add(line, value);
  }
  return line + '\n';
}

std::optional<Record> record_parse(std::string_view line) {
  if (!line.starts_with(kMark)) return std::nullopt;
  line.remove_prefix(kMark.size());
  if (line.ends_with('\r')) line.remove_suffix(1);  // a terminal between the two adds it
  Record record;
  for (bool first = true;; first = false) {
    const std::string_view word = line.substr(0, line.find('\t'));
    if (first) {
      auto verb = unescaped(word);
      if (!verb || verb->empty()) return std::nullopt;
      record.verb = std::move(*verb);
    } else {
      const std::size_t middle = word.find('=');
      if (middle == std::string_view::npos) return std::nullopt;
      auto key = unescaped(word.substr(0, middle));
      auto value = unescaped(word.substr(middle + 1));
      if (!key || !value) return std::nullopt;
      record.add(std::move(*key), std::move(*value));
    }
    if (word.size() == line.size()) return record;
    line.remove_prefix(word.size() + 1);
  }
}

}  // namespace omx::tools
