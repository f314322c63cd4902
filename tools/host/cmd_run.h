// SPDX-License-Identifier: BSD-3-Clause
// omx run: starts a program that may open packet sockets, and whose children may.
#pragma once

#include "tools/command.h"

namespace omx::tools {

// Adds the subcommand to the command line.
Command run_command(CLI::App& root);

}  // namespace omx::tools
