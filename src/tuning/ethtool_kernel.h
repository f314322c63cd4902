// SPDX-License-Identifier: BSD-3-Clause
// The kernel's Ethtool.
#pragma once

#include <memory>

#include "tuning/ethtool.h"

namespace omx::tuning {

// That of the kernel, for the interfaces of this network namespace.
std::unique_ptr<Ethtool> ethtool_of_kernel();

}  // namespace omx::tuning
