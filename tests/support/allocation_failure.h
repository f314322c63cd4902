// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace omx::runtime {

// This thread's call of operator new number `after` from now (0: the next) fails, once. Takes the former
// order back; returns whether that was carried out. Negative: none fails.
bool allocation_fail(std::int64_t after);

}  // namespace omx::runtime
