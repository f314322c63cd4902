// SPDX-License-Identifier: BSD-3-Clause
// Runs the programs of Open-MX 1.x by their names. A new program needs a file with its header, a line in
// programs.cc and a link in CMakeLists.txt.
#pragma once

#include <optional>
#include <string_view>

namespace omx::tools {

// Runs the program of this name and returns its status, or nullopt if there is none. A path counts by its
// last part.
std::optional<int> parity_run(std::string_view called_as, int argc, char** argv);

}  // namespace omx::tools
