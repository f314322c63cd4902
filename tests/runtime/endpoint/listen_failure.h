// SPDX-License-Identifier: BSD-3-Clause
// For tests of what happens when the kernel lets no epoll descriptor watch a listening socket.
#pragma once

namespace omx {

// While it lives, epoll_ctl() adds no listening socket: ENOSPC, as beyond
// /proc/sys/fs/epoll/max_user_watches.
class ListenFailure {
 public:
  ListenFailure();
  ListenFailure(const ListenFailure&) = delete;
  ListenFailure& operator=(const ListenFailure&) = delete;
  ~ListenFailure();
};

}  // namespace omx
