// SPDX-License-Identifier: BSD-3-Clause
// Reads whole text files, and entries of /sys and /proc.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/own_fd.h"

namespace omx {

// Returns the text of a file. The error is an errno or kNotRegularFile. Files above `most` bytes give EFBIG.
Expected<std::string, int> text_file_read(const std::string& path, std::size_t most = 1 << 20);

inline constexpr int kNotRegularFile = -1;
// Returns the text behind a descriptor, from its current position. Errors are as above.
Expected<std::string, int> text_file_read(const OwnFd& fd, std::size_t most = 1 << 20);
std::string text_file_error(int error);

// Returns the first line without its newline. Errors are as above.
Expected<std::string, int> line_read(const std::string& path);
// Returns the names in a folder, sorted ("2" before "10"). Returns none if the folder cannot be read.
std::vector<std::string> folder_list(const std::string& path);

}  // namespace omx
