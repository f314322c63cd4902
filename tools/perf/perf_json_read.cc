// SPDX-License-Identifier: BSD-3-Clause
#include "tools/perf/perf_json_read.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace omx::tools {

namespace {

constexpr int kDepthMost = 64;

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool document(JsonValue& value) {
    if (!read(value, 0)) return false;
    blanks();
    return rest_.empty();
  }

 private:
  using Kind = JsonValue::Kind;

  void blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool take(std::string_view token) {
    blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  bool read(JsonValue& value, int depth) {
    if (depth > kDepthMost) return false;
    if (take("{")) return object(value, depth);
    if (take("[")) return array(value, depth);
    if (take("\"")) {
      value.kind = Kind::text;
      return string(value.text);
    }
    if (take("null")) return true;
    value.truth = take("true");
    if (value.truth || take("false")) {
      value.kind = Kind::truth;
      return true;
    }
    return number(value);
  }

  bool object(JsonValue& value, int depth) {
    value.kind = Kind::object;
    if (take("}")) return true;
    do {
      if (!take("\"") || !string(value.keys.emplace_back()) || !take(":")) return false;
      if (!read(value.items.emplace_back(), depth + 1)) return false;
    } while (take(","));
    return take("}");
  }

  bool array(JsonValue& value, int depth) {
    value.kind = Kind::array;
    if (take("]")) return true;
    do {
      if (!read(value.items.emplace_back(), depth + 1)) return false;
    } while (take(","));
    return take("]");
  }

  bool number(JsonValue& value) {
    value.kind = Kind::number;
    const std::size_t length = std::min(rest_.find_first_not_of("+-.0123456789eE"), rest_.size());
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + length, value.number);
    if (!length || error != std::errc{} || end != rest_.data() + length) return false;
    rest_.remove_prefix(length);
    return true;
  }

  // Reads a string behind its first quote.
  bool string(std::string& text) {
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        text += c;
      } else if (!escape(text)) {
        return false;
      }
    }
    return false;
  }

  bool escape(std::string& text) {
    if (rest_.empty()) return false;
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const char name = rest_.front();
    rest_.remove_prefix(1);
    if (name == 'u') return code_point(text);
    const std::size_t at = kNames.find(name);
    if (at == std::string_view::npos) return false;
    text += kMeanings[at];
    return true;
  }

  // Reads four hexadecimal digits. Halves of a surrogate pair are refused: no writer of ours makes any.
  bool code_point(std::string& text) {
    std::uint16_t code = 0;
    if (rest_.size() < 4) return false;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + 4, code, 16);
    if (error != std::errc{} || end != rest_.data() + 4 || (code >= 0xD800 && code < 0xE000)) return false;
    rest_.remove_prefix(4);
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xC0 | code >> 6);
      text += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      text += static_cast<char>(0xE0 | code >> 12);
      text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      text += static_cast<char>(0x80 | (code & 0x3F));
    }
    return true;
  }

  std::string_view rest_;
};

}  // namespace

const JsonValue* JsonValue::at(std::string_view key, Kind wanted) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  if (found == keys.end()) return nullptr;
  const JsonValue& value = items[static_cast<std::size_t>(found - keys.begin())];
  return value.kind == wanted ? &value : nullptr;
}

std::optional<JsonValue> json_read(std::string_view text) {
  JsonValue value;
  if (!Reader(text).document(value)) return std::nullopt;
  return value;
}

}  // namespace omx::tools
