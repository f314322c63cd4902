// SPDX-License-Identifier: BSD-3-Clause
// A forked process for tests: it does something, reports ready, and then stays until it is killed.
#pragma once

#include <sys/types.h>

#include <functional>

namespace omx::runtime {

class Child {
 public:
  // Returns when `start` has returned true in the child. If it returned false, ok() is false.
  explicit Child(const std::function<bool()>& start);
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool ok() const { return ok_; }
  pid_t pid() const { return pid_; }
  // Kills the process with SIGKILL and returns when it is gone.
  void kill();

 private:
  pid_t pid_ = -1;
  bool ok_ = false;
};

// Runs `check` in a forked process. Returns its result.
bool in_child(const std::function<bool()>& check);

}  // namespace omx::runtime
