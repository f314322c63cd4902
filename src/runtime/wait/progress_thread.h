// SPDX-License-Identifier: BSD-3-Clause
// The thread behind the application's back: how it is made and where it runs. What it does:
// progress_driver.cc.
#pragma once

#include <pthread.h>

#include <functional>
#include <mutex>
#include <string>

namespace omx::runtime {

class ProgressThread {
 public:
  ProgressThread() = default;
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  // False when the system has no thread left. `cpus` as in OMX_PROGRESS_CPUS. Signals go to the application's
  // own threads.
  bool start(std::function<void()> body, const std::string& cpus);
  // After the body was told to end; returns when it has. Any thread, more than once.
  void join();

 private:
  static void* run(void* self);

  std::function<void()> body_;
  std::string cpus_;
  std::mutex join_mutex_;
  pthread_t thread_{};
  bool running_ = false;
};

}  // namespace omx::runtime
