// SPDX-License-Identifier: BSD-3-Clause
// Loads settings: built-in defaults, then the configuration file, then the environment. In the environment
// OMX_* names come first, then names that a setting had before, then those of MX unless OMX_IGNORE_MX_ENV=1.
// The names are in docs/reference/settings.md and docs/spec/protocol.md 19.1. A malformed value fails with
// the variable or file:line, the value, and what is accepted. So does an unknown key in the file. Other
// software uses MX_ names as well, so empty ones count as unset, and malformed ones are warnings.
#pragma once

#include <functional>
#include <string>

#include "base/expected.h"
#include "config/settings.h"

namespace omx::runtime {

using GetEnv = std::function<const char*(const char*)>;

// Loads settings. If `path` is empty, the file is OMX_CONFIG, or /etc/open-mx/open-mx.conf if it exists.
Result<Settings> settings_load(const GetEnv& getenv, const std::string& path = "");
// Does the same. On failure `settings` has what was read before.
Result<void> settings_read(const GetEnv& getenv, const std::string& path, Settings& settings);

}  // namespace omx::runtime
