// SPDX-License-Identifier: BSD-3-Clause
// Files that others read while they are written anew.
#pragma once

#include <string>

namespace omx::tools {

// A device, a named pipe, a folder, or a link to one of them: what may not make room for a file.
bool is_special(const std::string& path);

// In one step, and never through a link: the folder may be one where anybody writes. What a run that was
// killed left there is replaced. 0 or errno.
int file_replace(const std::string& path, const std::string& text);

}  // namespace omx::tools
