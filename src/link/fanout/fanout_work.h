// SPDX-License-Identifier: BSD-3-Clause
// What the keeper of a packet fanout group does for endpoints, as it takes waits for the kernel: a queue of
// tasks.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>

namespace omx::link {

class FanoutTask {
 public:
  virtual ~FanoutTask() = default;
  virtual void run() = 0;
};

// Any thread may call it.
class FanoutWork {
 public:
  // `wake`: lets the keeper call run() soon.
  void waker_set(std::function<void()> wake) { wake_ = std::move(wake); }
  // The task must live until it has run, or was cancelled.
  void begin(FanoutTask& task);
  // Waits where the task runs just now.
  void cancel(FanoutTask& task);
  // The keeper's.
  void run();

 private:
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::list<FanoutTask*> waiting_;
  FanoutTask* running_ = nullptr;
};

}  // namespace omx::link
