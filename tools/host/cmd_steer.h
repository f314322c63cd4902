// SPDX-License-Identifier: BSD-3-Clause
// omx steer: hands the frames of an endpoint to the endpoint's processor, by an XDP program on the interface.
// Datagrams are steered by flow rules of the NIC instead.
#pragma once

#include "tools/command.h"

namespace omx::tools {

// Adds the subcommand to the command line.
Command steer_command(CLI::App& root);

}  // namespace omx::tools
