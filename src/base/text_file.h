// SPDX-License-Identifier: BSD-3-Clause
// Text files read whole, and what is read of /sys and /proc.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/own_fd.h"

namespace omx {

// The error is an errno, or kNotRegularFile. Files above `most` bytes are refused with EFBIG.
Expected<std::string, int> text_file_read(const std::string& path, std::size_t most = 1 << 20);

inline constexpr int kNotRegularFile = -1;
// The same of a descriptor, from where it stands.
Expected<std::string, int> text_file_read(const OwnFd& fd, std::size_t most = 1 << 20);
std::string text_file_error(int error);

// The first line, without its newline. The error as above.
Expected<std::string, int> line_read(const std::string& path);
// Names in a folder, sorted ("2" before "10"); none when there is no such folder.
std::vector<std::string> folder_list(const std::string& path);

}  // namespace omx
