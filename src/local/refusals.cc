// SPDX-License-Identifier: BSD-3-Clause
#include "local/refusals.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "local/hello.h"

namespace omx::local {

namespace {

// A process that keeps coming with other numbers must not fill the terminal.
constexpr std::size_t kToldMost = 16;

const char* remedy(int error) {
  switch (error) {
    case EMFILE:
      return "raise the limit of open files (ulimit -n)";
    case ENFILE:
      return "raise sysctl fs.file-max";
    case ENOSPC:
      return "raise sysctl fs.epoll.max_user_watches";
    default:
      return "free memory";
  }
}

}  // namespace

bool Refusals::told_before(std::uint64_t whom) {
  if (told_.size() >= kToldMost || std::find(told_.begin(), told_.end(), whom) != told_.end()) return true;
  told_.push_back(whom);
  return false;
}

void Refusals::other_user(const Place& to, const ucred& who) {
  if (told_before(to.nic << 8 | to.endpoint)) return;
  log(LogLevel::warn,
      "endpoint {} of this host belongs to process {} of user {}, and this one to user {}: no message "
      "reaches it; "
      "run both as the same user, or both with OMX_LINK=udp OMX_LOCAL=0",
      to.endpoint, who.pid, who.uid, ::geteuid());
}

void Refusals::no_connection(const Place& to, int error) {
  if (told_before(to.nic << 8 | to.endpoint)) return;
  log(LogLevel::warn, "no connection to endpoint {} of this host: {}; {}", to.endpoint, std::strerror(error),
      remedy(error));
}

void Refusals::no_room(int error) {
  if (told_before(~std::uint64_t{0})) return;
  log(LogLevel::warn, "another endpoint of this host cannot be let in, its messages are not received: {}; {}",
      std::strerror(error), remedy(error));
}

void Refusals::unknown_peer(const OwnFd& connection, const ucred& who) {
  Hello hello;
  OwnFd memory;
  if (hello_receive(connection.get(), hello, memory) <= 0) return;
  if (told_before(static_cast<std::uint64_t>(who.pid) << 32)) return;
  log(LogLevel::warn,
      "process {} of user {} is not let in, as endpoint {} of this host belongs to user {}: its messages are "
      "not "
      "received; run both as the same user, or both with OMX_LINK=udp OMX_LOCAL=0",
      who.pid, who.uid, self_.endpoint, ::geteuid());
}

void Refusals::other_version(const OwnFd& connection, const Hello& hello) {
  ucred who{};
  socklen_t size = sizeof who;
  ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &who, &size);
  if (told_before(static_cast<std::uint64_t>(who.pid) << 32)) return;
  log(LogLevel::warn,
      "process {} of this host has another version of Open-MX (rings of version {}, here {}): no message "
      "passes "
      "between the two; start both with the same library",
      who.pid, hello.version, kRingVersion);
}

}  // namespace omx::local
