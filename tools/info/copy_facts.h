// SPDX-License-Identifier: BSD-3-Clause
// Prints the copy engines of this machine, as text or JSON.
#pragma once

#include <string>
#include <vector>

#include "copy/engines.h"
#include "tools/json.h"

namespace omx::tools {

std::string copy_text(const std::vector<copy::EngineFact>& engines);
void copy_json(JsonWriter& json, const std::vector<copy::EngineFact>& engines);

}  // namespace omx::tools
