// SPDX-License-Identifier: BSD-3-Clause
// Writes a JSON document to a string. object() and array() call a function that adds their contents.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace omx::tools {

class JsonWriter {
 public:
  template <class Fill>
  void object(std::string_view key, Fill&& fill) {
    nest(key, '{', '}', fill);
  }
  template <class Fill>
  void array(std::string_view key, Fill&& fill) {
    nest(key, '[', ']', fill);
  }
  // Elements of an array and the document itself have no key.
  template <class Fill>
  void object(Fill&& fill) {
    object({}, fill);
  }

  void field(std::string_view key, std::string_view value) {
    begin(key);
    quote(value);
  }
  void field(std::string_view key, const char* value) { field(key, std::string_view(value)); }
  void field(std::string_view key, bool value) {
    begin(key);
    text_ += value ? "true" : "false";
  }
  void field(std::string_view key, double value) {
    begin(key);
    text_ += fmt::format("{:.4f}", value);
  }
  void field(std::string_view key, std::integral auto value) {
    begin(key);
    text_ += fmt::format("{}", value);
  }
  void element(std::string_view value) { field({}, value); }

  std::string take() { return std::move(text_) + '\n'; }

 private:
  template <class Fill>
  void nest(std::string_view key, char open, char close, Fill&& fill) {
    begin(key);
    text_ += open;
    first_ = true;
    fill();
    text_ += close;
    first_ = false;
  }

  void begin(std::string_view key) {
    if (!first_) text_ += ", ";
    first_ = false;
    if (key.empty()) return;
    quote(key);
    text_ += ": ";
  }

  void quote(std::string_view value) {
    text_ += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        text_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      } else {
        text_ += c;
      }
    }
    text_ += '"';
  }

  std::string text_;
  bool first_ = true;
};

}  // namespace omx::tools
