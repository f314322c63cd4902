// SPDX-License-Identifier: BSD-3-Clause
#include "listen_failure.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace {
std::atomic<bool> g_fails{false};

bool listening(int fd) {
  int accepts = 0;
  socklen_t length = sizeof accepts;
  return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &length) == 0 && accepts != 0;
}
}  // namespace

// Replaces the function of the C library.
extern "C" int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  if (g_fails && operation == EPOLL_CTL_ADD && listening(fd)) {
    errno = ENOSPC;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_epoll_ctl, epoll, operation, fd, event));
}

namespace omx {

ListenFailure::ListenFailure() {
  g_fails = true;
}

ListenFailure::~ListenFailure() {
  g_fails = false;
}

}  // namespace omx
