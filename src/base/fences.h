// SPDX-License-Identifier: BSD-3-Clause
// Fences for words that another process or the kernel reads. Threads of this process exchange a word instead
// (base/wake_flag.h), which ThreadSanitizer can follow.
#pragma once

#include <atomic>

// GCC refuses fences under ThreadSanitizer, because it cannot follow what they synchronise. No data between
// threads of this process rely on these fences.
#if defined(__SANITIZE_THREAD__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif

namespace omx {

struct Fences {
  // Keeps later stores from being seen before earlier loads and stores.
  static void release() { std::atomic_thread_fence(std::memory_order_release); }
  // Keeps every later access behind every earlier one. Without it a load may pass an earlier store, even on
  // x86.
  static void full() { std::atomic_thread_fence(std::memory_order_seq_cst); }
};

}  // namespace omx

#if defined(__SANITIZE_THREAD__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
