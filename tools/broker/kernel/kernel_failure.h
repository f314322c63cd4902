// SPDX-License-Identifier: BSD-3-Clause
// Failures of the kernel's calls, as sentences with a remedy.
#pragma once

#include <cstdint>
#include <string>

#include "base/expected.h"

namespace omx::broker {

// Returns the failure "cannot WHAT: REASON". For a lack of rights or means it also names the remedy.
Failure kernel_failure(const std::string& what, int error);
// Returns the name of an interface, for messages.
std::string interface_name(std::uint32_t ifindex);

}  // namespace omx::broker
