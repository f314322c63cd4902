// SPDX-License-Identifier: BSD-3-Clause
// Skips tests that qemu-user cannot run. It passes system calls on to the kernel, but not all of them
// (docs/how-to/cross-build.md).
#pragma once

#include <gtest/gtest.h>

#include "base/text_file.h"

namespace omx {

// Returns whether an emulator runs this program.
inline bool emulated() {
  return line_read("/proc/self/comm").value_or("").starts_with("qemu-");
}

}  // namespace omx

// Skips the test under qemu-user. `lacks` completes the sentence.
#define OMX_SKIP_EMULATED(lacks)                                  \
  do {                                                            \
    if (omx::emulated()) GTEST_SKIP() << "qemu-user " << (lacks); \
  } while (false)
