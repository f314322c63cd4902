// SPDX-License-Identifier: BSD-3-Clause
// For tests that need what not every kernel or container has.
#pragma once

#include <gtest/gtest.h>

#include "base/expected.h"

namespace omx::broker {

// Returns whether a failure shows that this kernel or this process cannot do it, rather than a fault.
inline bool is_missing_here(const Failure& failure) {
  constexpr int kNoPermission = 7;
  return failure.mx_code == kNoPermission || failure.message.find("this kernel has no") != std::string::npos;
}

// Skips the test if `result` is such a failure, and fails it at any other.
#define OMX_NEED(result)                                                             \
  if (!(result)) {                                                                   \
    if (is_missing_here((result).error())) GTEST_SKIP() << (result).error().message; \
    FAIL() << (result).error().message;                                              \
  }

}  // namespace omx::broker
