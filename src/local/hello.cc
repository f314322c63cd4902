// SPDX-License-Identifier: BSD-3-Clause
#include "local/hello.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace omx::local {

namespace {

// A hello with room for one descriptor beside it.
struct Letter {
  explicit Letter(Hello& hello) : piece{&hello, sizeof hello} {
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  Letter(const Letter&) = delete;
  Letter& operator=(const Letter&) = delete;

  iovec piece;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
};

}  // namespace

bool hello_send(int connection, const Hello& hello, int memory) {
  Letter letter(const_cast<Hello&>(hello));
  cmsghdr* header = CMSG_FIRSTHDR(&letter.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &memory, sizeof memory);
  return ::sendmsg(connection, &letter.message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(sizeof hello);
}

int hello_receive(int connection, Hello& hello, OwnFd& memory) {
  Letter letter(hello);
  const ssize_t got = ::recvmsg(connection, &letter.message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
  for (cmsghdr* h = CMSG_FIRSTHDR(&letter.message); h; h = CMSG_NXTHDR(&letter.message, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(h), sizeof fd);
    memory = OwnFd(fd);
  }
  const bool good = got == static_cast<ssize_t>(sizeof hello) && memory.open() &&
                    hello.magic == Hello::kMagic && hello.version == kRingVersion &&
                    hello.ring_bytes == kRingBytes && hello.endpoint < 256;
  return good ? 1 : -1;
}

}  // namespace omx::local
