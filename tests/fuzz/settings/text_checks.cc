// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/settings/text_checks.h"

#include <algorithm>

#include "tests/fuzz/require.h"

namespace omx::fuzz {

void check_message(std::string_view text) {
  REQUIRE(!text.empty());
  REQUIRE(text.size() <= kMessageMax);
  REQUIRE(std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }));
}

}  // namespace omx::fuzz
