// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/copy_facts.h"

#include <fmt/format.h>

namespace omx::tools {

std::string copy_text(const std::vector<copy::EngineFact>& engines) {
  std::string text = "\nCopy engines:\n";
  for (const copy::EngineFact& engine : engines) {
    text += fmt::format("  {}: {}{}\n", copy::engine_name(engine.kind),
                        engine.available ? "" : "not available: ", engine.text);
  }
  return text;
}

void copy_json(JsonWriter& json, const std::vector<copy::EngineFact>& engines) {
  json.array("copy_engines", [&] {
    for (const copy::EngineFact& engine : engines) {
      json.object([&] {
        json.field("name", copy::engine_name(engine.kind));
        json.field("available", engine.available);
        json.field(engine.available ? "about" : "reason", engine.text);
      });
    }
  });
}

}  // namespace omx::tools
