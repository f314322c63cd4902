// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/fanout_keeper.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <utility>

#include "base/no_signals.h"
#include "link/fanout/fanout_directory.h"

namespace omx::link {

namespace {
constexpr int kLookMs = 1000;
constexpr int kRightMs = 20;
constexpr unsigned kNoRoomMs = 100;
constexpr std::size_t kStack = 256U << 10;
}  // namespace

bool FanoutKeeper::start(const FanoutShare& share, std::function<void()> look, std::function<void()> work) {
  assert(!running_);
  assert(share.whole());
  share_ = &share;
  look_ = std::move(look);
  work_ = std::move(work);
  poll_ = OwnFd(::epoll_create1(EPOLL_CLOEXEC));
  event_ = OwnFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event newcomer{}, woken{};
  newcomer.events = EPOLLIN | EPOLLEXCLUSIVE;
  newcomer.data.fd = share.listener.get();
  woken.events = EPOLLIN;
  woken.data.fd = event_.get();
  if (!poll_.open() || !event_.open() ||
      ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, share.listener.get(), &newcomer) < 0 ||
      ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, event_.get(), &woken) < 0)
    return false;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStack);
  const NoSignals no_signals;
  running_ = ::pthread_create(&thread_, &attributes, run, this) == 0;
  ::pthread_attr_destroy(&attributes);
  return running_;
}

void FanoutKeeper::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
}

void FanoutKeeper::stop() {
  if (!running_ || mark_.forked()) return;
  running_ = false;
  ends_.store(true, std::memory_order_relaxed);
  wake();
  ::pthread_join(thread_, nullptr);
}

void FanoutKeeper::let_in() {
  for (;;) {
    const OwnFd newcomer(::accept4(share_->listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!newcomer.open()) {
      // No descriptor is free. The newcomer stays in the queue, and epoll reports it again at once.
      if (errno != EAGAIN) nap(kNoRoomMs);
      return;
    }
    if (same_user(newcomer.get()) && right_seen(newcomer.get(), share_->dropping.get(), kRightMs))
      share_send(newcomer.get(), *share_);
  }
}

void* FanoutKeeper::run(void* self) {
  auto* keeper = static_cast<FanoutKeeper*>(self);
  ::pthread_setname_np(::pthread_self(), "omx-keeper");
  for (;;) {
    epoll_event event{};
    const int count = ::epoll_wait(keeper->poll_.get(), &event, 1, kLookMs);
    if (keeper->ends_.load(std::memory_order_relaxed)) return nullptr;
    if (count > 0 && event.data.fd == keeper->event_.get()) {
      std::uint64_t times;
      [[maybe_unused]] const ssize_t got = ::read(keeper->event_.get(), &times, sizeof times);
      keeper->work_();
    }
    if (count >= 0) keeper->let_in();
    if (count == 0) keeper->look_();
    if (count < 0 && errno != EINTR) return nullptr;
  }
}

}  // namespace omx::link
