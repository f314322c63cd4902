// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/progress_thread.h"

#include <fmt/format.h>

#include "base/affinity.h"
#include "base/cpu_list.h"
#include "base/log.h"
#include "base/no_signals.h"
#include "base/text_file.h"

namespace omx::runtime {

namespace {

// Returns the processors of the memory node that `cpu` belongs to; empty if unknown.
std::vector<int> node_of(int cpu) {
  for (int node = 0; node < 64; node++) {
    const auto text = line_read(fmt::format("/sys/devices/system/node/node{}/cpulist", node));
    if (!text) break;
    auto cpus = cpu_list_parse(*text);
    for (const int other : cpus)
      if (other == cpu) return cpus;
  }
  return {};
}

void place(const std::string& cpus) {
  if (cpus == "inherit") return;
  std::vector<int> wanted;
  if (cpus == "auto") {
    // A process that is bound to one processor computes there, so this thread may use any processor of the
    // same memory node. The kernel leaves out processors that the process's control group forbids.
    const std::vector<int> mine = affinity_read();
    if (mine.size() != 1) return;
    wanted = node_of(mine[0]);
  } else {
    wanted = cpu_list_parse(cpus);
  }
  if (wanted.empty()) return;
  if (affinity_set(wanted) != 0 && cpus != "auto")
    log(LogLevel::warn,
        "OMX_PROGRESS_CPUS={}: this process may use none of these processors, so its progress thread runs "
        "where "
        "the application does; give others, or inherit",
        cpus);
}

}  // namespace

void* ProgressThread::run(void* self) {
  auto* thread = static_cast<ProgressThread*>(self);
  ::pthread_setname_np(::pthread_self(), "omx-progress");
  place(thread->cpus_);
  thread->body_();
  thread->returned_ = true;
  return nullptr;
}

bool ProgressThread::start(std::function<void()> body, const std::string& cpus) {
  body_ = std::move(body);
  cpus_ = cpus;
  const NoSignals no_signals;
  returned_ = false;
  running_ = ::pthread_create(&thread_, nullptr, run, this) == 0;
  if (!running_) returned_ = true;
  return running_;
}

void ProgressThread::join() {
  const std::lock_guard guard(join_mutex_);
  if (running_) ::pthread_join(thread_, nullptr);
  running_ = false;
}

}  // namespace omx::runtime
