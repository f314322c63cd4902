// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/fanout_share.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <cstring>
#include <span>

#include "link/fanout/fanout_calls.h"

namespace omx::link {

namespace {

constexpr std::size_t kShared = 5;
constexpr char kGreeting = 'H';
// The user that the kernel gives for all users that this user namespace does not know.
constexpr uid_t kNobodyKnown = 65534;

// A message of one byte with descriptors beside it.
struct Parcel {
  Parcel() {
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;

  void fill(std::span<const int> fds) {
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  // Takes all descriptors that came. Those beyond the expected number are closed.
  std::array<OwnFd, kShared> take() {
    std::array<OwnFd, kShared> got;
    std::size_t count = 0;
    for (cmsghdr* h = CMSG_FIRSTHDR(&message); h; h = CMSG_NXTHDR(&message, h)) {
      if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
      for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= h->cmsg_len; at += sizeof(int)) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(h) + at, sizeof fd);
        OwnFd owned(fd);
        if (count < kShared) got[count++] = std::move(owned);
      }
    }
    return got;
  }

  char byte = kGreeting;
  iovec piece{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(kShared * sizeof(int))] = {};
  msghdr message{};
};

bool send_with(int to, std::span<const int> fds) {
  Parcel parcel;
  parcel.fill(fds);
  return ::sendmsg(to, &parcel.message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

}  // namespace

bool spares_open(FanoutShare& share) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) return false;
  share.spares_in = OwnFd(ends[0]);
  share.spares_out = OwnFd(ends[1]);
  return true;
}

bool spare_put(const FanoutShare& share, int fd) {
  assert(fd >= 0);
  return send_with(share.spares_in.get(), {&fd, 1});
}

OwnFd spare_peek(const FanoutShare& share, std::uint32_t member) {
  // Each message is one byte, and descriptors keep messages apart.
  const int offset = static_cast<int>(member);
  if (::setsockopt(share.spares_out.get(), SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof offset) < 0) return {};
  Parcel parcel;
  if (::recvmsg(share.spares_out.get(), &parcel.message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1)
    return {};
  return std::move(parcel.take()[0]);
}

bool same_user(int connection) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 &&
         credentials.uid == ::geteuid() && credentials.uid != kNobodyKnown;
}

bool packet_socket_is(int fd, int like) {
  int domain = 0;
  socklen_t size = sizeof domain;
  if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 || domain != AF_PACKET) return false;
  // Kernels before 5.14 cannot tell, so processes share no group there.
  const std::uint64_t here = network_of(like), there = network_of(fd);
  return here != 0 && here == there;
}

bool right_show(int connection, int packet_socket) {
  return send_with(connection, {&packet_socket, 1});
}

bool right_seen(int connection, int like, int timeout_ms) {
  pollfd wait{connection, POLLIN, 0};
  Parcel parcel;
  if (::poll(&wait, 1, timeout_ms) <= 0 ||
      ::recvmsg(connection, &parcel.message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1)
    return false;
  const auto shown = parcel.take();
  return shown[0].open() && packet_socket_is(shown[0].get(), like);
}

bool share_send(int connection, const FanoutShare& share) {
  const int fds[kShared] = {share.listener.get(), share.dropping.get(), share.spares_in.get(),
                            share.spares_out.get(), share.memory.get()};
  return send_with(connection, fds);
}

FanoutShare share_receive(int connection, int timeout_ms) {
  FanoutShare share;
  pollfd wait{connection, POLLIN, 0};
  Parcel parcel;
  if (::poll(&wait, 1, timeout_ms) <= 0 ||
      ::recvmsg(connection, &parcel.message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1 ||
      parcel.byte != kGreeting)
    return share;
  auto fds = parcel.take();
  share.listener = std::move(fds[0]);
  share.dropping = std::move(fds[1]);
  share.spares_in = std::move(fds[2]);
  share.spares_out = std::move(fds[3]);
  share.memory = std::move(fds[4]);
  return share;
}

}  // namespace omx::link
