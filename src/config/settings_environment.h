// SPDX-License-Identifier: BSD-3-Clause
// The settings of this process, from its environment.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "config/settings.h"

namespace omx::runtime {

// As settings_load.h. Warns, once of each, of what has no effect.
Result<Settings> settings_load();
Result<void> settings_read(Settings& settings);
// Returns whether a variable of the environment sets something of ours, well or not.
bool settings_in_environment();
// Returns a warning for each OMX_ variable of an environment that is no setting.
std::vector<std::string> settings_unknown(const char* const* environment);

}  // namespace omx::runtime
