// SPDX-License-Identifier: BSD-3-Clause
// Abstract Unix names, as claims and to meet: one socket holds each, in one network namespace, and the kernel
// frees it at any exit. Any user may take any name, so nothing may rely on who has one.
#pragma once

#include <string>

#include "base/own_fd.h"

namespace omx::link {

// Holds the name; not open, with errno (EADDRINUSE: somebody has it), when it cannot.
OwnFd name_hold(const std::string& name);

// A socket that others connect to by name, and such a connection. Not open, with errno, when it cannot be.
OwnFd name_listen(const std::string& name);
OwnFd name_connect(const std::string& name);

}  // namespace omx::link
