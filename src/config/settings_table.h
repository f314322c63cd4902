// SPDX-License-Identifier: BSD-3-Clause
// The only table of tunables. Parsing, printing and the texts of errors use it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

namespace omx::runtime {

struct Tunable {
  const char* variable;  // "OMX_..."; the key in the file is this without OMX_, in lower case
  const char* aliases;   // other names with spaces between them, or ""
  const char* help;
  bool (*parse)(std::string_view text,
                Settings& settings);  // returns false if the text is not accepted; then nothing is changed
  std::string (*print)(const Settings& settings);
  std::string (*accepted)();
  bool in_file = true;  // false: only the environment can set it
};

std::span<const Tunable> tunables();

// Returns the key in the file: "spin_us" for OMX_SPIN_US.
std::string tunable_key(std::string_view variable);
// Returns the variable and the names that the setting had before. All mean the same, also in the file.
std::vector<std::string> tunable_own_names(const Tunable& tunable);
// Returns the names of MX and of Open-MX 1.x, which other software may set, too.
std::vector<std::string> tunable_mx_names(const Tunable& tunable);

}  // namespace omx::runtime
