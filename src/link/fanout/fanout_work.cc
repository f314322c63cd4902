// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/fanout_work.h"

#include <algorithm>
#include <cassert>

#include "base/no_cancel.h"

namespace omx::link {

void FanoutWork::begin(FanoutTask& task) {
  const NoCancel no_cancel;
  assert(wake_);
  {
    const std::lock_guard guard(mutex_);
    waiting_.push_back(&task);
  }
  wake_();
}

void FanoutWork::cancel(FanoutTask& task) {
  const NoCancel no_cancel;
  std::unique_lock guard(mutex_);
  std::erase(waiting_, &task);
  done_.wait(guard, [&] { return running_ != &task; });
}

void FanoutWork::run() {
  std::unique_lock guard(mutex_);
  while (!waiting_.empty()) {
    running_ = waiting_.front();
    waiting_.pop_front();
    guard.unlock();
    running_->run();
    guard.lock();
    running_ = nullptr;
    done_.notify_all();
  }
}

}  // namespace omx::link
