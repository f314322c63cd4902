// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/copy_facts.h"

#include <gtest/gtest.h>

namespace omx::tools {
namespace {

const std::vector<copy::EngineFact> kFacts = {{copy::EngineKind::cpu, true, "memcpy"},
                                              {copy::EngineKind::dsa, false, "wq0.0 is disabled: do this"}};

TEST(copy_facts, as_text) {
  EXPECT_EQ(copy_text(kFacts),
            "\nCopy engines:\n"
            "  cpu: memcpy\n"
            "  dsa: not available: wq0.0 is disabled: do this\n");
}

TEST(copy_facts, as_json) {
  JsonWriter json;
  json.object([&] { copy_json(json, kFacts); });
  EXPECT_EQ(json.take(),
            "{\"copy_engines\": [{\"name\": \"cpu\", \"available\": true, \"about\": \"memcpy\"}, {\"name\": "
            "\"dsa\", "
            "\"available\": false, \"reason\": \"wq0.0 is disabled: do this\"}]}\n");
}

}  // namespace
}  // namespace omx::tools
