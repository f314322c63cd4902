// SPDX-License-Identifier: BSD-3-Clause
// The end of a packet fanout group. Its last process closes all sockets. The kernel takes some ten
// milliseconds for each, and several threads spend them at the same time.
#pragma once

#include <vector>

#include "base/own_fd.h"

namespace omx::link {

void sockets_close(std::vector<OwnFd> sockets);

}  // namespace omx::link
