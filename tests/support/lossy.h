// SPDX-License-Identifier: BSD-3-Clause
// Loses packets that an interface receives, at random.
#pragma once

#include <string>

#include "base/own_fd.h"

namespace omx::link {

// As long as the descriptor is open. Not open: this kernel (before 6.6) or user cannot, with the reason.
OwnFd packets_lose(const std::string& interface, unsigned percent, std::string& reason);

}  // namespace omx::link
