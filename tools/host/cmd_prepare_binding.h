// SPDX-License-Identifier: BSD-3-Clause
// omx prepare-binding: writes the file by which OMX_PROCESS_BINDING=file binds processes.
#pragma once

#include "tools/command.h"

namespace omx::tools {

// Adds the subcommand to the command line.
Command prepare_binding_command(CLI::App& root);

}  // namespace omx::tools
