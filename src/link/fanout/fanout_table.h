// SPDX-License-Identifier: BSD-3-Clause
// The kernel's table of a packet fanout group: made again and loaded as a whole when endpoints come.
#pragma once

#include <cstdint>

#include "link/fanout/fanout_group.h"

namespace omx::link {

// Lets the kernel's table of that kind follow the directory, up to change number `version`. `any`: a
// socket of that kind. False: it could not be brought to that in time.
bool table_publish(FanoutGroup& group, FanoutKind kind, int any, std::uint32_t version);
// Publishes the table again if one of those who hear the board has gone.
void board_look(FanoutGroup& group);

}  // namespace omx::link
