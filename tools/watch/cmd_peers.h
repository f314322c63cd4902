// SPDX-License-Identifier: BSD-3-Clause
// omx peers: shows the names that are known, and with --discover those that other hosts announce.
#pragma once

#include "tools/command.h"

namespace omx::tools {

// Adds the subcommand to the command line.
Command peers_command(CLI::App& root);

}  // namespace omx::tools
