// SPDX-License-Identifier: BSD-3-Clause
// A thread of each process of a packet fanout group: it lets newcomers in, makes wake-up sockets, and once a
// second looks whether the group is in order. It sleeps otherwise. The kernel wakes one of the group's
// keepers for each newcomer, and not one whose process is stopped; what one misses that is stopped at that
// moment, others find when they look.
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

  // All must outlive it. False: it cannot be had.
  bool start(const FanoutShare& share, std::function<void()> look, std::function<void()> work);
  // It is to do its work.
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
