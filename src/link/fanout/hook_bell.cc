// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/hook_bell.h"

#include <sys/socket.h>

#include <algorithm>

#include "base/no_cancel.h"
#include "link/packet/packet_filter.h"

namespace omx::link {

bool HookBell::open(const HookPlace& beside, std::uint8_t endpoint) {
  if (!group_) {
    group_ = &beside.group();
    endpoint_ = endpoint;
    group_->bell_begin(*this);
  }
  return socket() >= 0;
}

void HookBell::close() {
  // The mutex of a forked child may be held for ever.
  if (group_ && !mark_.forked()) group_->bell_cancel(*this);
  group_ = nullptr;
  delete place_.exchange(nullptr, std::memory_order_acquire);
}

void HookBell::make() {
  HookWish wish;
  wish.kind = HookKind::bells;
  wish.ready = [](int fd) {
    // The least there is: one frame in it rings as loud as many.
    const int bytes = 1;
    return ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  };
  auto place = std::make_unique<HookPlace>(group_->place_take(wish));
  if (!place->held()) return;
  char byte;  // of its former holder
  while (::recv(place->socket(), &byte, 1, MSG_DONTWAIT | MSG_TRUNC) > 0) {
  }
  FilterRule rule;
  rule.endpoint = endpoint_;
  rule.ifindex = group_->ifindex();
  rule.board_frames = false;
  rule.lane = Lane::bell;
  if (packet_filter_attach(place->socket(), packet_filter_build(rule)) == 0 && place->enter(endpoint_))
    place_.store(place.release(), std::memory_order_release);
}

void HookGroup::bell_begin(HookBell& bell) {
  const NoCancel no_cancel;
  {
    const std::lock_guard guard(bells_mutex_);
    bells_.push_back(&bell);
  }
  keeper_.wake();
}

void HookGroup::bell_cancel(HookBell& bell) {
  const NoCancel no_cancel;
  std::unique_lock guard(bells_mutex_);
  std::erase(bells_, &bell);
  bells_done_.wait(guard, [&] { return bell_in_work_ != &bell; });
}

void HookGroup::bells_make() {
  std::unique_lock guard(bells_mutex_);
  while (!bells_.empty()) {
    bell_in_work_ = bells_.front();
    bells_.pop_front();
    guard.unlock();
    bell_in_work_->make();
    guard.lock();
    bell_in_work_ = nullptr;
    bells_done_.notify_all();
  }
}

}  // namespace omx::link
