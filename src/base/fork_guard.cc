// SPDX-License-Identifier: BSD-3-Clause
#include "base/fork_guard.h"

#include <pthread.h>

#include <mutex>

#include "base/own_fd.h"

namespace omx {

std::atomic<unsigned> g_forks{0};

void fork_guard_install() {
  static std::once_flag once;
  std::call_once(once, [] {
    // If this fails (no memory), a child is not recognised, as if there were no guard.
    (void)::pthread_atfork(nullptr, nullptr, [] {
      g_forks.fetch_add(1, std::memory_order_relaxed);
      own_fds_drop();
    });
  });
}

}  // namespace omx
