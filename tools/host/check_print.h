// SPDX-License-Identifier: BSD-3-Clause
// Prints the findings of `omx check` as text or JSON.
#pragma once

#include <string>

#include "tools/host/tuning_targets.h"

namespace omx::tools {

std::string check_text(const TuningReport& report);
std::string check_json(const TuningReport& report);

}  // namespace omx::tools
