// SPDX-License-Identifier: BSD-3-Clause
// Counts memory allocations of a test program, and makes them fail.
#pragma once

#include <cstdint>

namespace omx::test {

// Returns the calls of operator new and aligned_alloc in this program so far. Thread-safe.
std::uint64_t allocation_count();
// Makes new (std::nothrow), which the slabs use, find no memory from now on.
void allocations_fail(bool fail);

}  // namespace omx::test
