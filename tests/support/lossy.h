// SPDX-License-Identifier: BSD-3-Clause
// Loses packets that an interface receives, at random.
#pragma once

#include <string>

#include "base/own_fd.h"

namespace omx::link {

// Loses packets as long as the returned descriptor is open. It is not open, with the reason, if this kernel
// (before 6.6) or user cannot do that.
OwnFd packets_lose(const std::string& interface, unsigned percent, std::string& reason);

}  // namespace omx::link
