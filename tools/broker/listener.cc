// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/listener.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/number.h"
#include "netdev/open_failure.h"

namespace omx::broker {

namespace {

constexpr int kSystemdFd = 3;  // the first one that it passes
constexpr int kQueue = 128;

bool from_systemd() {
  const char* const pid = std::getenv("LISTEN_PID");
  const char* const count = std::getenv("LISTEN_FDS");
  return pid && count && number_parse(pid) == static_cast<std::uint64_t>(::getpid()) &&
         number_parse(count) == std::uint64_t{1};
}

Failure socket_failure(const std::string& path, const char* what, int error) {
  return {link::kFailure, fmt::format("cannot {} {}: {}; choose another path (--socket, or \"socket\" in "
                                      "broker.conf)",
                                      what, path, std::strerror(error))};
}

bool address_of(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return true;
}

bool answers(const sockaddr_un& address) {
  const OwnFd probe(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return probe.open() &&
         (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
          errno == EAGAIN);
}

void folder_make(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) ::mkdir(path.substr(0, slash).c_str(), 0711);
}

// Removes the socket that a killed broker left. Any other file stays.
Result<void> place_free(const std::string& path) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) < 0) return {};
  if (!S_ISSOCK(file.st_mode))
    return fail(link::kFailure,
                fmt::format("{} is not a socket, and is left alone; choose another path (--socket, "
                            "or \"socket\" in broker.conf), or remove it",
                            path));
  ::unlink(path.c_str());
  return {};
}

// Gives the socket to the group of the policy, with the policy's permissions.
Result<void> rights_set(const std::string& path, const Policy& policy) {
  if (policy.socket.group.id && ::chown(path.c_str(), static_cast<uid_t>(-1), *policy.socket.group.id) < 0)
    return tl::unexpected(socket_failure(path, "give the group of the policy to", errno));
  if (::chmod(path.c_str(), policy.socket_mode_of()) < 0)
    return tl::unexpected(socket_failure(path, "set the permissions of", errno));
  return {};
}

}  // namespace

bool broker_answers(const std::string& path) {
  sockaddr_un address;
  return address_of(path, address) && answers(address);
}

Result<void> listener_rights_set(int fd, const Policy& policy) {
  sockaddr_un own{};
  socklen_t length = sizeof own;
  const bool named = ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length) == 0 &&
                     own.sun_family == AF_UNIX && own.sun_path[0] == '/';
  return named ? rights_set(own.sun_path, policy) : Result<void>();
}

Result<Listener> Listener::open(const Policy& policy) {
  if (from_systemd()) {
    ::fcntl(kSystemdFd, F_SETFD, FD_CLOEXEC);
    ::fcntl(kSystemdFd, F_SETFL, O_NONBLOCK);
    Listener listener(OwnFd(kSystemdFd), {});
    if (auto set = listener_rights_set(kSystemdFd, policy); !set) return tl::unexpected(set.error());
    return listener;
  }
  const std::string& path = policy.socket.path;
  sockaddr_un address;
  if (!address_of(path, address)) return tl::unexpected(socket_failure(path, "use", ENAMETOOLONG));
  if (answers(address))
    return fail(link::kBusy,
                fmt::format("another broker listens at {}; end it first (systemctl stop omxd.socket "
                            "omxd.service)",
                            path));
  folder_make(path);
  if (auto freed = place_free(path); !freed) return tl::unexpected(freed.error());
  OwnFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const mode_t before = ::umask(0177);
  const bool bound =
      fd.open() && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int error = errno;
  ::umask(before);
  if (!bound) return tl::unexpected(socket_failure(path, "make", error));
  Listener listener(std::move(fd), path);
  if (auto set = rights_set(path, policy); !set) return tl::unexpected(set.error());
  if (::listen(listener.fd_.get(), kQueue) < 0)
    return tl::unexpected(socket_failure(path, "listen at", errno));
  return listener;
}

Listener::~Listener() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

void service_manager_tell(std::string_view state) {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address;
  if (!path || !address_of(path, address)) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(path));
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const OwnFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd.open())
    ::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
             length);
}

}  // namespace omx::broker
