// SPDX-License-Identifier: BSD-3-Clause
// Abstract Unix names serve as claims and as meeting points. In a network namespace one socket holds each
// name, and the kernel frees it at any exit. Any user may take any name, so nothing may rely on which user
// has one.
#pragma once

#include <string>

#include "base/own_fd.h"

namespace omx::link {

// Holds the name. On failure the descriptor is not open and errno is set; EADDRINUSE means that another
// socket has the name.
OwnFd name_hold(const std::string& name);

// name_listen() returns a socket that others connect to by name, and name_connect() a connection to it. On
// failure the descriptor is not open and errno is set.
OwnFd name_listen(const std::string& name);
OwnFd name_connect(const std::string& name);

}  // namespace omx::link
