// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace omx::copy {

// Between two looks of a busy wait: leaves the core to its other hardware thread.
inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace omx::copy
