// SPDX-License-Identifier: BSD-3-Clause
// Reads a JSON document (RFC 8259), such as `omx perf` writes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omx::tools {

struct JsonValue {
  enum class Kind { null, truth, number, text, array, object };
  Kind kind = Kind::null;
  bool truth = false;
  double number = 0;
  std::string text;
  std::vector<JsonValue> items;   // of an array, or the values of an object
  std::vector<std::string> keys;  // of an object: one for each item

  // Returns null if this is no object, if it has no such key, or if that value is of another kind.
  const JsonValue* at(std::string_view key, Kind wanted) const;
};

// Returns nullopt unless the whole text is one document, nested at most 64 levels deep.
std::optional<JsonValue> json_read(std::string_view text);

}  // namespace omx::tools
