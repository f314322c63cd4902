// SPDX-License-Identifier: BSD-3-Clause
// The kernel's table of a hook group: made anew and loaded as a whole when endpoints come.
#pragma once

#include <cstdint>

#include "link/fanout/hook_group.h"

namespace omx::link {

// Lets the kernel's table of that kind follow the directory, up to change number `version`. `member`: any
// socket of that kind. False: it could not be brought to that in time.
bool table_publish(HookGroup& group, HookKind kind, int member, std::uint32_t version);
// Publishes the table again if one of those who hear the board has gone.
void board_look(HookGroup& group);

}  // namespace omx::link
