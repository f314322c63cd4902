// SPDX-License-Identifier: BSD-3-Clause
// The ioctl of ethtool, which every kernel and every driver answers.
#pragma once

#include <string>

namespace omx::steering {

// Passes `command`, a structure of linux/ethtool.h, to the driver. Returns 0 or errno.
int ethtool_call(const std::string& interface, void* command);

}  // namespace omx::steering
