// SPDX-License-Identifier: BSD-3-Clause
// omx perf: measures latency, throughput and message rate between two hosts through the interface that
// applications use.
#pragma once

#include "tools/command.h"

namespace omx::tools {

// Adds the subcommand to the command line.
Command perf_command(CLI::App& root);

}  // namespace omx::tools
