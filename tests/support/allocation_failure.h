// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace omx::runtime {

// Makes this thread's call of operator new number `after` from now (0: the next) fail, once. A negative
// number lets none fail. Replaces the previous order, and returns whether that one was carried out.
bool allocation_fail(std::int64_t after);

}  // namespace omx::runtime
