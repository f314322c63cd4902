// SPDX-License-Identifier: BSD-3-Clause
#include "broker/connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "netdev/open_failure.h"

namespace omx::broker {

namespace {

Failure no_broker(const std::string& path, int error) {
  const char* remedy =
      error == EACCES ? "your user is not in the broker's group (SocketGroup of omxd.socket, usually open-mx)"
                      : "start it with \"systemctl start omxd.socket\", or set OMX_BROKER=off";
  return {link::kNoPermission, fmt::format("no broker at {}: {}; {}", path, std::strerror(error), remedy)};
}

Failure talk_failure(const std::string& path, const std::string& what) {
  return {link::kFailure, fmt::format("the broker at {}: {}", path, what)};
}

}  // namespace

Request request_of(Kind kind, const std::string& interface) {
  Request request;
  request.head.kind = static_cast<std::uint16_t>(kind);
  text_store(request.interface, interface);
  return request;
}

Result<Connection> Connection::open(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return tl::unexpected(no_broker(path, ENAMETOOLONG));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  OwnFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd.open()) return tl::unexpected(link::open_failure("a Unix socket", errno));
  int result = 0;
  do {
    result = ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } while (result < 0 && errno == EINTR);
  if (result < 0) return tl::unexpected(no_broker(path, errno));
  return Connection(std::move(fd), path);
}

bool Connection::send(const Request& request, int descriptor) {
  Request copy = request;
  iovec piece{&copy, sizeof copy};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(part), &descriptor, sizeof descriptor);
  }
  for (;;) {
    if (::sendmsg(fd_.get(), &message, MSG_NOSIGNAL) == sizeof copy) return true;
    if (errno != EINTR) return false;
  }
}

bool Connection::alive() const {
  pollfd look{fd_.get(), 0, 0};
  return fd_.open() && ::poll(&look, 1, 0) >= 0 && !(look.revents & (POLLHUP | POLLERR | POLLNVAL));
}

// Waits until something is there to read.
bool Connection::await(std::chrono::milliseconds patience) const {
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd look{fd_.get(), POLLIN, 0};
    const int ready = ::poll(&look, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

Result<Reply> Connection::take(Kind kind) {
  alignas(BoardRecord) std::array<std::byte, sizeof(Answer) + kBoardsMost * sizeof(BoardRecord)> packet;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorsMost * sizeof(int))> control;
  iovec piece{packet.data(), packet.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t length = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  // A broker that refuses ends the connection at once, and its sentence is behind this error.
  if (length < 0 && errno == ECONNRESET)
    length = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0) return tl::unexpected(talk_failure(path_, std::strerror(errno)));
  Reply reply;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; i++) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      reply.descriptors.emplace_back(fd);
    }
  }
  if (length == 0)
    return tl::unexpected(talk_failure(path_, "it ended the connection; see its log (journalctl -u omxd)"));
  if (message.msg_flags & MSG_CTRUNC)
    return tl::unexpected(
        talk_failure(path_, "no descriptor is left; raise the limit of open files (ulimit -n)"));
  const std::string objection = answer_read(std::span(packet).first(static_cast<std::size_t>(length)), kind,
                                            reply.answer, reply.boards);
  if (!objection.empty()) return tl::unexpected(talk_failure(path_, objection));
  if (reply.answer.code != 0) return fail(static_cast<int>(reply.answer.code), text_load(reply.answer.text));
  return reply;
}

Result<Reply> Connection::ask(const Request& request, std::chrono::milliseconds patience, int descriptor) {
  if (late_) return tl::unexpected(talk_failure(path_, "it does not answer"));
  // The broker may have refused already, and ended the connection.
  send(request, descriptor);
  if (!await(patience)) {
    late_ = true;
    return tl::unexpected(talk_failure(path_, "no answer in time; see its log (journalctl -u omxd)"));
  }
  return take(static_cast<Kind>(request.head.kind));
}

}  // namespace omx::broker
