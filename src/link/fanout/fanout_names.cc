// SPDX-License-Identifier: BSD-3-Clause
#include "link/fanout/fanout_names.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace omx::link {

namespace {

constexpr int kBacklog = 256;

// An abstract address: a NUL, then the name without a NUL at its end.
struct Address {
  explicit Address(const std::string& name) {
    local.sun_family = AF_UNIX;
    const std::size_t size = std::min(name.size(), sizeof local.sun_path - 1);
    std::memcpy(local.sun_path + 1, name.data(), size);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&local); }

  sockaddr_un local{};
  socklen_t length = 0;
};

OwnFd socket_open(int type) {
  return OwnFd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

void drop(OwnFd& fd) {
  const int error = errno;
  fd.reset();
  errno = error;
}

}  // namespace

OwnFd name_hold(const std::string& name) {
  const Address address(name);
  OwnFd fd = socket_open(SOCK_DGRAM);
  if (fd.open() && ::bind(fd.get(), address.get(), address.length) < 0) drop(fd);
  return fd;
}

OwnFd name_listen(const std::string& name) {
  const Address address(name);
  OwnFd fd = socket_open(SOCK_STREAM);
  if (fd.open() && (::bind(fd.get(), address.get(), address.length) < 0 || ::listen(fd.get(), kBacklog) < 0))
    drop(fd);
  return fd;
}

OwnFd name_connect(const std::string& name) {
  const Address address(name);
  OwnFd fd = socket_open(SOCK_STREAM);
  if (fd.open() && ::connect(fd.get(), address.get(), address.length) < 0) drop(fd);
  return fd;
}

}  // namespace omx::link
