// SPDX-License-Identifier: BSD-3-Clause
// The descriptors that all processes of a packet fanout group hold, and how they are passed on. Two of them
// are the ends of a Unix socket, whose queue holds every socket of the group but `dropping`, in use or not.
// The queue keeps the sockets open until no process holds its ends any more. Sockets are added and copied
// from it, never taken out.
#pragma once

#include <cstdint>

#include "base/own_fd.h"

namespace omx::link {

struct FanoutShare {
  OwnFd listener;               // newcomers connect to it
  OwnFd dropping;               // the group's first member, which drops what it gets
  OwnFd spares_in, spares_out;  // the two ends of the queue of spare members
  OwnFd memory;                 // shared memory with the group's directory (fanout_directory.h)

  bool whole() const {
    return listener.open() && dropping.open() && spares_in.open() && spares_out.open() && memory.open();
  }
};

bool spares_open(FanoutShare& share);
// Puts a socket into the queue. Returns false if it cannot be added, as when the queue is full.
bool spare_put(const FanoutShare& share, int fd);
// Returns a copy of the queue's socket number `member`, from 0, or a closed descriptor if there are fewer.
// Only one process may call it at a time.
OwnFd spare_peek(const FanoutShare& share, std::uint32_t member);

// Returns whether the other end is a process of this user.
bool same_user(int connection);
// Sends a packet socket over the connection, as proof that this process may open them: the group passes its
// sockets on only to such processes. It must be of the group's network namespace, because a process without
// the right there may have it in a namespace of its own.
bool right_show(int connection, int packet_socket);
// Returns whether the newcomer showed a packet socket of the namespace of `like` within the time.
bool right_seen(int connection, int like, int timeout_ms);
// Returns whether `fd` is a packet socket of the same namespace as `like`. Before Linux 5.14 always false:
// then processes share no group.
bool packet_socket_is(int fd, int like);
bool share_send(int connection, const FanoutShare& share);
// Waits for the descriptors, at most `timeout_ms`. The result is not whole() when they did not come.
FanoutShare share_receive(int connection, int timeout_ms);

}  // namespace omx::link
