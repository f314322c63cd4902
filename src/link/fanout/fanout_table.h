// SPDX-License-Identifier: BSD-3-Clause
// The kernel's table of a packet fanout group. It is made again and loaded as a whole when endpoints come.
#pragma once

#include <cstdint>

#include "link/fanout/fanout_group.h"

namespace omx::link {

// Makes the kernel's table of that kind follow the directory, up to change number `version`. `any` is a
// socket of that kind. Returns false when that did not succeed in time.
bool table_publish(FanoutGroup& group, FanoutKind kind, int any, std::uint32_t version);
// Publishes the table again if a member that gets the board's frames has gone.
void board_look(FanoutGroup& group);

}  // namespace omx::link
