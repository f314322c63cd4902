// SPDX-License-Identifier: BSD-3-Clause
// omx capture: the Open-MX traffic of an interface as a file for Wireshark.
#pragma once

#include "tools/command.h"

namespace omx::tools {

// Adds the subcommand to the command line.
Command capture_command(CLI::App& root);

}  // namespace omx::tools
