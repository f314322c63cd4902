// SPDX-License-Identifier: BSD-3-Clause
// The end of a packet fanout group. Its last process ends all sockets, and the kernel takes some ten
// milliseconds for each: by several threads these are the same ones.
#pragma once

#include <vector>

#include "base/own_fd.h"

namespace omx::link {

void sockets_close(std::vector<OwnFd> sockets);

}  // namespace omx::link
