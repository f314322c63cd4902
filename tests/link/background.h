// SPDX-License-Identifier: BSD-3-Clause
// What goes on beside a test.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

namespace omx::link {

// Runs an action again and again in a thread of its own until destroyed.
class Background {
 public:
  explicit Background(std::function<void()> action)
      : thread_([this, run = std::move(action)] {
          while (!stop_) run();
        }) {}
  ~Background() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace omx::link
