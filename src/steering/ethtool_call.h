// SPDX-License-Identifier: BSD-3-Clause
// ethtool's ioctl: every kernel and every driver answers it.
#pragma once

#include <string>

namespace omx::steering {

// `command`: a structure of linux/ethtool.h. 0 or errno.
int ethtool_call(const std::string& interface, void* command);

}  // namespace omx::steering
