// SPDX-License-Identifier: BSD-3-Clause
// Which process is at the other end of a connection.
#pragma once

#include <sys/socket.h>

#include "base/own_fd.h"

namespace omx::local {

// Returns whether the process at the other end is of this user, or of root. On the cable, CAP_NET_RAW is
// needed. Here any other process could connect without it, and a process that took an endpoint's name would
// get its messages. Returns false if the credentials are not known.
bool trusted(const OwnFd& connection, ucred& credentials);

}  // namespace omx::local
