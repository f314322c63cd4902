// SPDX-License-Identifier: BSD-3-Clause
// Fences for words that another process or the kernel reads. Between two threads of this process an exchange
// does (base/wake_flag.h), which ThreadSanitizer follows, too.
#pragma once

#include <atomic>

// GCC refuses fences under ThreadSanitizer, because it cannot follow what they synchronise. Nothing relies on
// that here.
#if defined(__SANITIZE_THREAD__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif

namespace omx {

struct Fences {
  // Stores made later are not seen before loads and stores made earlier.
  static void release() { std::atomic_thread_fence(std::memory_order_release); }
  // Nothing made later passes anything made earlier: not even a load passes a store, as it may on x86.
  static void full() { std::atomic_thread_fence(std::memory_order_seq_cst); }
};

}  // namespace omx

#if defined(__SANITIZE_THREAD__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
