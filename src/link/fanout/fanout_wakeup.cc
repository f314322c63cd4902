// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/fanout_wakeup.h"

#include <sys/socket.h>

#include "link/fanout/fanout_members.h"
#include "link/packet/packet_filter.h"

namespace omx::link {

bool FanoutWakeup::open(const FanoutMember& beside, std::uint8_t endpoint) {
  if (!group_) {
    group_ = &beside.group();
    endpoint_ = endpoint;
    group_->work().begin(*this);
  }
  return socket() >= 0;
}

void FanoutWakeup::close() {
  // In a forked child another thread's hold on the mutex may never end.
  if (group_ && !mark_.forked()) group_->work().cancel(*this);
  group_ = nullptr;
  delete member_.exchange(nullptr, std::memory_order_acquire);
}

void FanoutWakeup::run() {
  MemberWish wish;
  wish.kind = FanoutKind::wakeups;
  wish.ready = [](int fd) {
    // The smallest buffer is enough, because one frame in it wakes as well as many.
    const int bytes = 1;
    return ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  };
  auto member = std::make_unique<FanoutMember>(member_take(*group_, wish));
  if (!member->held()) return;
  char byte;  // frames that came for the former holder
  while (::recv(member->socket(), &byte, 1, MSG_DONTWAIT | MSG_TRUNC) > 0) {
  }
  FilterRule rule;
  rule.endpoint = endpoint_;
  rule.ifindex = group_->ifindex();
  rule.board_frames = false;
  rule.frames = FrameClass::solicited;
  if (packet_filter_attach(member->socket(), packet_filter_build(rule)) == 0 && member->enter(endpoint_))
    member_.store(member.release(), std::memory_order_release);
}

}  // namespace omx::link
