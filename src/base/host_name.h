// SPDX-License-Identifier: BSD-3-Clause
// This host's name.
#pragma once

#include <string>

namespace omx {

// Returns the name that the kernel has, at most 254 characters of it, or `otherwise` if there is none.
std::string host_name(const char* otherwise);

}  // namespace omx
