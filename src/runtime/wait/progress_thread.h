// SPDX-License-Identifier: BSD-3-Clause
// How the progress thread is made, and where it runs. progress_driver.cc says what it does.
#pragma once

#include <pthread.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

namespace omx::runtime {

class ProgressThread {
 public:
  ProgressThread() = default;
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  // Starts the thread. Returns false when the system has no thread left. `cpus` as in OMX_PROGRESS_CPUS. The
  // application's own threads take all signals.
  bool start(std::function<void()> body, const std::string& cpus);
  // Returns when the body, which was told to end, has returned. Any thread may call it, more than once.
  void join();
  // Returns whether it has returned, so that join() does not wait.
  bool returned() const { return returned_; }

 private:
  static void* run(void* self);

  std::function<void()> body_;
  std::string cpus_;
  std::mutex join_mutex_;
  pthread_t thread_{};
  bool running_ = false;
  std::atomic<bool> returned_{true};  // the body has, or never began
};

}  // namespace omx::runtime
