// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/fanout_disband.h"

#include <limits.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/no_signals.h"

namespace omx::link {

namespace {

constexpr std::size_t kThreads = 16, kStackLeast = 64U << 10;

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

}  // namespace

void sockets_close(std::vector<OwnFd> sockets) {
  Work work;
  work.sockets = std::move(sockets);
  std::vector<pthread_t> threads;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  // The system wants at least 128 KiB on arm64, and refuses less.
  ::pthread_attr_setstacksize(&attributes, std::max<std::size_t>(kStackLeast, PTHREAD_STACK_MIN));
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

}  // namespace omx::link
