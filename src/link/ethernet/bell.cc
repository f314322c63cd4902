// SPDX-License-Identifier: BSD-3-Clause
#include "link/ethernet/bell.h"

#include <sys/socket.h>

#include "link/packet/packet_filter.h"
#include "link/packet/packet_socket.h"

namespace omx::link {

bool Bell::open(std::uint32_t ifindex, std::uint8_t endpoint, bool board_frames) {
  if (tried_) return fd_.open();
  tried_ = true;
  OwnFd socket = packet_socket_new();
  if (!socket.open()) return false;
  // The least there is: one frame in it rings as loud as many.
  const int bytes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  FilterRule rule;
  rule.endpoint = endpoint;
  rule.ifindex = ifindex;
  rule.board_frames = board_frames;
  rule.lane = Lane::bell;
  if (packet_filter_attach(socket.get(), packet_filter_build(rule)) != 0 ||
      packet_socket_bind(socket.get(), ifindex) != 0)
    return false;
  fd_ = std::move(socket);
  return true;
}

void Bell::close() {
  shared_.close();
  fd_.reset();
  tried_ = false;
}

void Bell::clear() const {
  const int fd = descriptor();
  char byte;
  while (fd >= 0 && ::recv(fd, &byte, 1, MSG_DONTWAIT | MSG_TRUNC) > 0) {
  }
}

}  // namespace omx::link
