// SPDX-License-Identifier: BSD-3-Clause
#include "link/ethernet/wakeup_socket.h"

#include <sys/socket.h>

#include "base/clock.h"
#include "link/packet/packet_filter.h"
#include "link/packet/packet_socket.h"

namespace omx::link {

bool WakeupSocket::open() {
  return beside_.shared() ? shared_.open(beside_.member(), beside_.options().endpoint) : own_open();
}

bool WakeupSocket::granted_open(GrantedSockets& granted) {
  const TimeNs now = clock_now();
  if (now < ask_at_) return false;
  ask_at_ = now + kAskPause;
  fd_ = granted.wakeup();
  if (fd_.open()) granted.take(GrantedSockets::Socket::wakeup, FrameClass::solicited);
  return fd_.open();
}

bool WakeupSocket::own_open() {
  if (fd_.open()) return true;
  if (GrantedSockets* const granted = beside_.granted()) return granted_open(*granted);
  if (tried_) return false;
  tried_ = true;
  const std::uint32_t ifindex = beside_.state().index;
  OwnFd socket = packet_socket_new();
  if (!socket.open()) return false;
  // The smallest buffer is enough, because one frame in it wakes as well as many.
  const int bytes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  FilterRule rule;
  rule.endpoint = beside_.options().endpoint;
  rule.ifindex = ifindex;
  rule.board_frames = beside_.options().board_frames;
  rule.frames = FrameClass::solicited;
  if (packet_filter_attach(socket.get(), packet_filter_build(rule)) != 0 ||
      packet_socket_bind(socket.get(), ifindex) != 0)
    return false;
  fd_ = std::move(socket);
  return true;
}

void WakeupSocket::close() {
  shared_.close();
  fd_.reset();
  tried_ = false;
  ask_at_ = 0;
}

void WakeupSocket::clear() {
  const int fd = descriptor();
  char byte;
  while (fd >= 0 && ::recv(fd, &byte, 1, MSG_DONTWAIT | MSG_TRUNC) > 0) {
  }
}

}  // namespace omx::link
