// SPDX-License-Identifier: BSD-3-Clause
// Finds the programs of Open-MX 1.x by their names. A new program needs a file with its header, a line in
// programs.cc and a link in CMakeLists.txt.
#pragma once

#include <string_view>

namespace omx::tools {

using Program = int (*)(int argc, char** argv);

// Returns the program of this name, or nullptr if there is none.
Program parity_program(std::string_view name);

}  // namespace omx::tools
