// SPDX-License-Identifier: BSD-3-Clause
// The end of a hook group. Its last process ends all sockets, and the kernel takes some ten milliseconds for
// each: by several threads these are the same ones.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/no_cancel.h"
#include "base/no_signals.h"
#include "link/fanout/hook_group.h"

namespace omx::link {

namespace {

constexpr std::size_t kThreads = 16, kStack = 64U << 10;

struct Work {
  std::vector<OwnFd> sockets;
  std::atomic<std::size_t> next{0};
};

void* close_some(void* argument) {
  auto* work = static_cast<Work*>(argument);
  for (std::size_t i; (i = work->next.fetch_add(1, std::memory_order_relaxed)) < work->sockets.size();)
    work->sockets[i].reset();
  return nullptr;
}

void close_all(Work& work) {
  std::vector<pthread_t> threads;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStack);
  {
    const NoSignals no_signals;
    while (threads.size() + 1 < std::min(kThreads, work.sockets.size())) {
      pthread_t thread;
      if (::pthread_create(&thread, &attributes, close_some, &work) != 0) break;
      threads.push_back(thread);
    }
  }
  ::pthread_attr_destroy(&attributes);
  close_some(&work);
  for (const pthread_t thread : threads) ::pthread_join(thread, nullptr);
}

}  // namespace

// Whether nobody else seems to be there. Somebody may come just now: then nothing ends.
bool HookGroup::alone() const {
  for (std::uint32_t i = 0; i < deposited(); i++)
    if (memory_.locked(place_lock(i))) return false;
  return true;
}

HookGroup::~HookGroup() {
  const NoCancel no_cancel;
  keeper_.stop();
  if (mark_.forked() || !memory_.get() || !alone()) return;
  Work work;
  {
    const HookLock lock(memory_, kJoinLock);
    if (!lock.held()) return;
    for (std::uint32_t i = 0; i < deposited(); i++) {
      OwnFd socket = depot_look(share_, i);
      if (!socket.open()) break;
      work.sockets.push_back(std::move(socket));
    }
  }
  share_ = {};
  close_all(work);
}

}  // namespace omx::link
