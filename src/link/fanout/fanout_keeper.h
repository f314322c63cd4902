// SPDX-License-Identifier: BSD-3-Clause
// A thread of each process of a packet fanout group. It lets newcomers in, makes wake-up sockets, and checks
// once a second whether the group is in order. Otherwise it sleeps. For each newcomer the kernel wakes one
// of the group's keepers, but none whose process is stopped. If the chosen keeper is stopped at that moment,
// others find the newcomer at their next check.
#pragma once

#include <pthread.h>

#include <atomic>
#include <functional>

#include "base/fork_guard.h"
#include "base/own_fd.h"
#include "link/fanout/fanout_share.h"

namespace omx::link {

class FanoutKeeper {
 public:
  FanoutKeeper() = default;
  FanoutKeeper(const FanoutKeeper&) = delete;
  FanoutKeeper& operator=(const FanoutKeeper&) = delete;
  ~FanoutKeeper() { stop(); }

  // Starts the thread. All arguments must outlive it. Returns false when it cannot be started.
  bool start(const FanoutShare& share, std::function<void()> look, std::function<void()> work);
  // Makes the thread do its work.
  void wake();
  void stop();

 private:
  static void* run(void* self);
  void let_in();

  const FanoutShare* share_ = nullptr;
  std::function<void()> look_, work_;
  OwnFd poll_, event_;
  std::atomic<bool> ends_{false};
  pthread_t thread_{};
  bool running_ = false;
  ForkMark mark_;
};

}  // namespace omx::link
