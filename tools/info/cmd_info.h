// SPDX-License-Identifier: BSD-3-Clause
// omx info: shows what Open-MX finds on this host, what it would choose, and what is wrong.
#pragma once

#include "tools/command.h"

namespace omx::tools {

// Adds the subcommand to the command line.
Command info_command(CLI::App& root);

}  // namespace omx::tools
