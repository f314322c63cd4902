// SPDX-License-Identifier: BSD-3-Clause
// Endpoints and copy engines belong to the process that opened them. A forked child must not disturb the
// parent: it loses their descriptors, and its copies refuse everything. The child is recognised without a
// system call.
#pragma once

#include <atomic>

namespace omx {

extern std::atomic<unsigned> g_forks;  // how many fork()s lie between the first process and this one

// Call once before anything may be forked.
void fork_guard_install();

inline unsigned fork_generation() {
  return g_forks.load(std::memory_order_relaxed);
}

// Notes in which process it was made.
class ForkMark {
 public:
  ForkMark() {
    fork_guard_install();
    made_at_ = fork_generation();
  }
  // Whether a fork lies between then and now.
  bool forked() const { return fork_generation() != made_at_; }

 private:
  unsigned made_at_;
};

}  // namespace omx
