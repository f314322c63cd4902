// SPDX-License-Identifier: BSD-3-Clause
#include "copy/fork_mark.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace omx::copy {

namespace {

std::atomic<unsigned> g_forks{0};

}  // namespace

ForkMark::ForkMark() {
  static std::once_flag once;
  std::call_once(once, [] {
    // On failure (no memory) a child is not recognised.
    (void)::pthread_atfork(nullptr, nullptr, [] { g_forks.fetch_add(1, std::memory_order_relaxed); });
  });
  made_at_ = g_forks.load(std::memory_order_relaxed);
}

bool ForkMark::forked() const {
  return g_forks.load(std::memory_order_relaxed) != made_at_;
}

}  // namespace omx::copy
