// SPDX-License-Identifier: BSD-3-Clause
// A condition that a fuzz target requires, in every build.
#pragma once

#include <cstdio>
#include <cstdlib>

#define REQUIRE(condition)                                                           \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                  \
    }                                                                                \
  } while (0)
