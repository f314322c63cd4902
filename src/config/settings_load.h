// SPDX-License-Identifier: BSD-3-Clause
// Where settings come from: built-in defaults, then the configuration file, then the environment (OMX_*
// first, MX_* aliases unless OMX_IGNORE_MX_ENV=1). Table of names: docs/spec/protocol.md 19.1 and docs.
// Malformed values are failures that name the variable or file:line, the value, and what is accepted; unknown
// keys in the file too. Other software uses MX_ names as well: empty ones count as unset, malformed ones are
// warnings.
#pragma once

#include <functional>
#include <string>

#include "base/expected.h"
#include "config/settings.h"

namespace omx::runtime {

using GetEnv = std::function<const char*(const char*)>;

// `path` empty: OMX_CONFIG, else /etc/open-mx/open-mx.conf if it exists.
Result<Settings> settings_load(const GetEnv& getenv, const std::string& path = "");
// The same; where it fails, `settings` says what was read before.
Result<void> settings_read(const GetEnv& getenv, const std::string& path, Settings& settings);

}  // namespace omx::runtime
