// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace omx::protocol::test {

// Calls of operator new and aligned_alloc in this program so far.
std::uint64_t allocation_count();
// From now on new (std::nothrow), which the slabs use, finds no memory.
void allocations_fail(bool fail);

}  // namespace omx::protocol::test
