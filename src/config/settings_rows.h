// SPDX-License-Identifier: BSD-3-Clause
// Settings as text, for `omx info --settings` and the documentation check.
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"

namespace omx::runtime {

// One row for each tunable.
struct SettingRow {
  const char* variable;
  const char* alias;  // MX_ names with spaces between them, or ""
  const char* help;
  std::string value;     // in force now
  std::string key;       // in the file; empty: only the environment can set it
  std::string accepted;  // values, with their unit
  std::string
      origin;  // "default", "environment", "MX_... in the environment", "FILE:LINE", "another setting"
};
std::vector<SettingRow> settings_rows(const Settings& settings);

}  // namespace omx::runtime
