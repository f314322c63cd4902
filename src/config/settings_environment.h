// SPDX-License-Identifier: BSD-3-Clause
// The settings of this process, read from its environment.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "config/settings.h"

namespace omx::runtime {

// Loads settings as in settings_load.h. Warns once of each setting that has no effect.
Result<Settings> settings_load();
Result<void> settings_read(Settings& settings);
// Returns whether a variable of the environment sets one of our settings, even with a bad value.
bool settings_in_environment();
// Returns a warning for each OMX_ variable of an environment that is no setting.
std::vector<std::string> settings_unknown(const char* const* environment);

}  // namespace omx::runtime
