// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace omx::link {

// Calls of operator new in this program so far.
std::uint64_t allocation_count();

}  // namespace omx::link
