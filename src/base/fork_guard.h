// SPDX-License-Identifier: BSD-3-Clause
// Endpoints and copy engines belong to the process that opened them. A forked child must not disturb its
// parent: the child loses their descriptors, and its copies of them refuse every call. A process learns
// without a system call that it is such a child.
#pragma once

#include <atomic>

namespace omx {

extern std::atomic<unsigned> g_forks;  // the number of fork()s between the first process and this one

// Installs the handler that counts forks. Call it before any fork that must be noticed.
void fork_guard_install();

inline unsigned fork_generation() {
  return g_forks.load(std::memory_order_relaxed);
}

// Remembers the process in which it was made.
class ForkMark {
 public:
  ForkMark() {
    fork_guard_install();
    made_at_ = fork_generation();
  }
  // Returns whether this process was forked since the mark was made.
  bool forked() const { return fork_generation() != made_at_; }

 private:
  unsigned made_at_;
};

}  // namespace omx
