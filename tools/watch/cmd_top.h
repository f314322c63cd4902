// SPDX-License-Identifier: BSD-3-Clause
// omx top: shows what the endpoints of this host do, again and again, without disturbing them.
#pragma once

#include "tools/command.h"

namespace omx::tools {

// Adds the subcommand to the command line.
Command top_command(CLI::App& root);

}  // namespace omx::tools
