// SPDX-License-Identifier: BSD-3-Clause
// omx tune: makes the improvements that omx check names, and undoes them.
#pragma once

#include "tools/command.h"

namespace omx::tools {

// Adds the subcommand to the command line.
Command tune_command(CLI::App& root);

}  // namespace omx::tools
