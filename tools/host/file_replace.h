// SPDX-License-Identifier: BSD-3-Clause
// Replaces files that other programs may be reading.
#pragma once

#include <string>

namespace omx::tools {

// Returns whether the path is a device, a named pipe, a folder, or a link to one of them. A file must not
// replace these.
bool is_special(const std::string& path);

// Replaces the file in one step and never through a link, because any user may write to the folder. The
// remains of a killed run are replaced, too. Returns 0 or an errno.
int file_replace(const std::string& path, const std::string& text);

}  // namespace omx::tools
