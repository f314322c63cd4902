// SPDX-License-Identifier: BSD-3-Clause
// Reads a small text file whole.
#pragma once

#include <string>

#include "base/expected.h"

namespace omx::runtime {

// The error is an errno, or kNotRegularFile. Files above 1 MiB are refused with EFBIG.
Expected<std::string, int> text_file_read(const std::string& path);

inline constexpr int kNotRegularFile = -1;
std::string text_file_error(int error);

}  // namespace omx::runtime
