// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace omx::protocol::test {

// Calls of operator new and aligned_alloc in this program so far.
std::uint64_t allocation_count();

}  // namespace omx::protocol::test
