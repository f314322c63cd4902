// SPDX-License-Identifier: BSD-3-Clause
// omx counters: shows the counters of the open endpoints of this host, without disturbing them.
#pragma once

#include "tools/command.h"

namespace omx::tools {

// Adds the subcommand to the command line.
Command counters_command(CLI::App& root);

}  // namespace omx::tools
