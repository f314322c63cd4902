// SPDX-License-Identifier: BSD-3-Clause
#include "mx/process.h"

#include <atomic>

namespace omx::mx {

namespace {

// The runtime is never destroyed at exit(), because other threads may still be inside a call.
constinit std::atomic<runtime::Process*> g_process{nullptr};

}  // namespace

runtime::Process* process() {
  return g_process.load(std::memory_order_acquire);
}

runtime::Process* process_exchange(runtime::Process* process) {
  return g_process.exchange(process);
}

}  // namespace omx::mx
