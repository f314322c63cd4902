// SPDX-License-Identifier: BSD-3-Clause
// Which process is at the other end of a connection.
#pragma once

#include <sys/socket.h>

#include "base/own_fd.h"

namespace omx::local {

// Returns whether the process at the other end is of this user, or of root. The cable asks for CAP_NET_RAW.
// Here any other process would come in without it, and one that took an endpoint's name would be sent its
// messages. False also where the credentials are not known.
bool trusted(const OwnFd& connection, ucred& credentials);

}  // namespace omx::local
