// SPDX-License-Identifier: BSD-3-Clause
// The descriptors that all processes of a packet fanout group hold, and how they are passed on. One of them
// is the queue of spare members. It is the queue of a Unix socket, and holds every socket of the group. So
// none of the sockets ends before the last process of the group does. Sockets can be added to the queue and
// read from it, but never removed.
#pragma once

#include <cstdint>

#include "base/own_fd.h"

namespace omx::link {

struct FanoutShare {
  OwnFd listener;               // newcomers connect to it
  OwnFd dropping;               // member 0: drops what it gets
  OwnFd spares_in, spares_out;  // the two ends of the queue of spare members
  OwnFd memory;                 // of the directory

  bool whole() const {
    return listener.open() && dropping.open() && spares_in.open() && spares_out.open() && memory.open();
  }
};

bool spares_open(FanoutShare& share);
// Puts a socket into the queue. Returns false when the queue is full.
bool spare_put(const FanoutShare& share, int fd);
// Returns the socket that was put in as number `member`, or a closed descriptor when there are fewer. Only
// one process may call it at a time.
OwnFd spare_peek(const FanoutShare& share, std::uint32_t member);

// Returns whether the other end is a process of this user.
bool same_user(int connection);
// Shows a packet socket to the group. Packet sockets are passed on only to processes that may open them, so
// a newcomer shows one. It must be of this network namespace, because a process without the right here may
// have it in another.
bool right_show(int connection, int packet_socket);
// Returns whether the newcomer showed a packet socket within the time.
bool right_seen(int connection, int like, int timeout_ms);
bool packet_socket_is(int fd, int like);
bool share_send(int connection, const FanoutShare& share);
// Waits for the descriptors, at most `timeout_ms`. The result is not whole() when they did not come.
FanoutShare share_receive(int connection, int timeout_ms);

}  // namespace omx::link
