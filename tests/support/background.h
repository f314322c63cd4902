// SPDX-License-Identifier: BSD-3-Clause
// Activity in the background of a test.
#pragma once

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <string>
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

// Returns whether all other threads of this process sleep. Then every thread that was about to wait does so.
inline bool others_sleep() {
  const std::string self = std::to_string(::syscall(SYS_gettid));
  bool sleep = true;
  DIR* tasks = ::opendir("/proc/self/task");
  while (const dirent* task = ::readdir(tasks)) {
    if (task->d_name[0] == '.' || self == task->d_name) continue;
    std::string line;
    std::getline(std::ifstream(std::string("/proc/self/task/") + task->d_name + "/stat"), line);
    const std::size_t name_end = line.rfind(") ");  // a name may contain any character
    sleep = sleep && (name_end == std::string::npos || line.compare(name_end, 3, ") S") == 0);
  }
  ::closedir(tasks);
  return sleep;
}

// Returns how many progress threads this process has.
inline int progress_threads() {
  int count = 0;
  DIR* tasks = ::opendir("/proc/self/task");
  while (const dirent* task = ::readdir(tasks)) {
    std::string name;
    std::getline(std::ifstream(std::string("/proc/self/task/") + task->d_name + "/comm"), name);
    count += name == "omx-progress";
  }
  ::closedir(tasks);
  return count;
}

}  // namespace omx::link
