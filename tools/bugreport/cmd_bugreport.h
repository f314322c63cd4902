// SPDX-License-Identifier: BSD-3-Clause
// omx bugreport: collects what a report of a fault needs into one text, without what is private.
#pragma once

#include "tools/command.h"

namespace omx::tools {

Command bugreport_command(CLI::App& root);

}  // namespace omx::tools
