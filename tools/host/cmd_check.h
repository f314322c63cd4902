// SPDX-License-Identifier: BSD-3-Clause
// omx check: shows settings of NICs and host that matter to messages, and the commands that improve them.
#pragma once

#include "tools/command.h"

namespace omx::tools {

// Adds the subcommand to the command line.
Command check_command(CLI::App& root);

}  // namespace omx::tools
