// SPDX-License-Identifier: BSD-3-Clause
// omx dump: shows what the endpoints of a hanging process wait for. The process takes no part: it may even be
// stopped.
#pragma once

#include "tools/command.h"

namespace omx::tools {

// Adds the subcommand to the command line.
Command dump_command(CLI::App& root);

}  // namespace omx::tools
