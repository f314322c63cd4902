// SPDX-License-Identifier: BSD-3-Clause
// A queue of tasks that the keeper of a packet fanout group does for endpoints, because they wait for the
// kernel.
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

// The queue of tasks. Any thread may call it.
class FanoutWork {
 public:
  // Sets the function that makes the keeper call run() soon.
  void waker_set(std::function<void()> wake) { wake_ = std::move(wake); }
  // Queues a task, which must live until it has run or was cancelled.
  void begin(FanoutTask& task);
  // Removes the task. Waits if the task is running.
  void cancel(FanoutTask& task);
  // Runs the queued tasks. Only the keeper calls it.
  void run();

 private:
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::list<FanoutTask*> waiting_;
  FanoutTask* running_ = nullptr;
};

}  // namespace omx::link
