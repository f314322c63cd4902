// SPDX-License-Identifier: BSD-3-Clause
// omx explain: says what a message means, by its number, by words of it, or by the whole line.
#pragma once

#include "tools/command.h"

namespace omx::tools {

Command explain_command(CLI::App& root);

}  // namespace omx::tools
