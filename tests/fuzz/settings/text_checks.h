// SPDX-License-Identifier: BSD-3-Clause
// Requirements on texts for people.
#pragma once

#include <string_view>

namespace omx::fuzz {

// The longest message of a failure or warning: a path, a value, and the longest remedy of the settings table.
inline constexpr std::size_t kMessageMax = 512;

// Checks that a message is one line of bounded length, in which no control character of the input can work on
// the reader's terminal.
void check_message(std::string_view text);

}  // namespace omx::fuzz
