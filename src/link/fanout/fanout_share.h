// SPDX-License-Identifier: BSD-3-Clause
// The descriptors that all processes of a packet fanout group hold, how they are passed on, and the queue of
// spare members: a queue of a Unix socket in which every socket of the group lies, so that none of them ends
// before the last process of the group does. A queue can be added to and looked into; nothing is ever taken
// out.
#pragma once

#include <cstdint>

#include "base/own_fd.h"

namespace omx::link {

struct FanoutShare {
  OwnFd listener;               // by which newcomers come
  OwnFd dropping;               // member 0: drops what it gets
  OwnFd spares_in, spares_out;  // the two ends
  OwnFd memory;                 // of the directory

  bool whole() const {
    return listener.open() && dropping.open() && spares_in.open() && spares_out.open() && memory.open();
  }
};

bool spares_open(FanoutShare& share);
// False: it takes no more.
bool spare_put(const FanoutShare& share, int fd);
// The socket that was put in as number `member`; not open when there are not that many. One process at a
// time.
OwnFd spare_peek(const FanoutShare& share, std::uint32_t member);

// Whether the other end is a process of this user.
bool same_user(int connection);
// Packet sockets are passed on only to who may open them: a newcomer shows one. It must be of this network
// namespace; who may not open one here may do so in another.
bool right_show(int connection, int packet_socket);
// Whether it did, within the time.
bool right_seen(int connection, int like, int timeout_ms);
bool packet_socket_is(int fd, int like);
bool share_send(int connection, const FanoutShare& share);
// Waits for it, at most so long. Not whole: it did not come.
FanoutShare share_receive(int connection, int timeout_ms);

}  // namespace omx::link
