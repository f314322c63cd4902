// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/process/at_exit.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "protocol/types.h"

namespace omx::runtime {

namespace {

// A thread that takes longer runs a handler of the application, which may wait for the exit.
constexpr TimeNs kPatience = 200 * protocol::kMillisecond;

struct Watched {
  std::mutex mutex;
  std::vector<OpenEndpoints*> all;
};

// Is never destroyed, since exit() may close endpoints after all.
Watched& watched() {
  static auto* const only = new Watched;
  return *only;
}

void threads_end() {
  Watched& w = watched();
  const std::unique_lock guard(w.mutex, std::try_to_lock);
  if (!guard) return;  // a signal handler called exit(), or a child that was forked meanwhile
  for (OpenEndpoints* endpoints : w.all)
    endpoints->visit([](Endpoint& endpoint) { endpoint.end_background_at_exit(kPatience); });
}

}  // namespace

void exit_watch(OpenEndpoints& endpoints) {
  Watched& w = watched();
  const std::lock_guard guard(w.mutex);
  w.all.push_back(&endpoints);
  // For each process object, as objects with static storage may have been constructed since the last one. If
  // there is no memory, the exit goes on as without.
  (void)std::atexit([] { threads_end(); });
}

void exit_forget(OpenEndpoints& endpoints) {
  Watched& w = watched();
  const std::lock_guard guard(w.mutex);
  std::erase(w.all, &endpoints);
}

}  // namespace omx::runtime
