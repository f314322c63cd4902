// SPDX-License-Identifier: BSD-3-Clause
// Ethtool by the kernel.
#pragma once

#include <memory>

#include "tuning/ethtool.h"

namespace omx::tuning {

// Returns the kernel's Ethtool, for the interfaces of this network namespace.
std::unique_ptr<Ethtool> ethtool_of_kernel();

}  // namespace omx::tuning
