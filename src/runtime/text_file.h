// SPDX-License-Identifier: BSD-3-Clause
// Reads a small text file whole.
#pragma once

#include <string>

#include "base/expected.h"

namespace omx::runtime {

// The error is an errno. Files above 1 MiB are refused with EFBIG.
Expected<std::string, int> text_file_read(const std::string& path);

}  // namespace omx::runtime
