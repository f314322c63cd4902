// SPDX-License-Identifier: BSD-3-Clause
#include "broker/connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "netdev/open_failure.h"

namespace omx::broker {

namespace {

constexpr int kQueuePauseMs = 5;

Failure no_broker(const std::string& path, int error) {
  const char* remedy =
      error == EACCES ? "your user is not in the broker's group (SocketGroup of omxd.socket, usually open-mx)"
                      : "start it with \"systemctl start omxd.socket\", or set OMX_BROKER=off";
  return {link::kNoPermission, fmt::format("no broker at {}: {}; {}", path, std::strerror(error), remedy)};
}

Failure queue_failure(const std::string& path) {
  return {
      link::kNoResources,
      fmt::format("the broker at {} does not accept connections: its queue is full; see its log (journalctl "
                  "-u omxd)",
                  path)};
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

// The queue of a broker is full for a moment when many processes start.
Result<Connection> Connection::open(const std::string& path, Time until) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return tl::unexpected(no_broker(path, ENAMETOOLONG));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  // A connect() that blocks waits without limit while the queue is full.
  OwnFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.open()) return tl::unexpected(link::open_failure("a Unix socket", errno));
  while (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return tl::unexpected(no_broker(path, errno));
    if (std::chrono::steady_clock::now() >= until) return tl::unexpected(queue_failure(path));
    ::poll(nullptr, 0, kQueuePauseMs);
  }
  return Connection(std::move(fd), path);
}

bool Connection::send(const Request& request) {
  for (;;) {
    if (::send(fd_.get(), &request, sizeof request, MSG_NOSIGNAL) == sizeof request) return true;
    if (errno != EINTR) return false;
  }
}

bool Connection::readable() const {
  pollfd look{fd_.get(), POLLIN, 0};
  return !ended_ && ::poll(&look, 1, 0) > 0;
}

bool Connection::alive() const {
  pollfd look{fd_.get(), 0, 0};
  return fd_.open() && !ended_ && ::poll(&look, 1, 0) >= 0 &&
         !(look.revents & (POLLHUP | POLLERR | POLLNVAL));
}

// Waits until something is there to read.
bool Connection::await(Time until) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd look{fd_.get(), POLLIN, 0};
    const int ready = ::poll(&look, 1, std::max(static_cast<int>(left.count()), 0));
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) return false;
  }
}

struct Connection::Packet {
  alignas(BoardRecord) std::array<std::byte, sizeof(Answer) + kBoardsMost * sizeof(BoardRecord)> bytes;
  std::size_t length = 0;
  std::vector<OwnFd> descriptors;
};

Result<void> Connection::receive(Packet& packet) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorsMost * sizeof(int))> control;
  iovec piece{packet.bytes.data(), packet.bytes.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t length = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  // A broker that refuses ends the connection at once, and its sentence is behind this error.
  if (length < 0 && errno == ECONNRESET)
    length = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0) {
    ended_ = errno != EAGAIN && errno != EINTR;
    return tl::unexpected(talk_failure(path_, std::strerror(errno)));
  }
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; i++) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      packet.descriptors.emplace_back(fd);
    }
  }
  if (length == 0) {
    ended_ = true;
    return tl::unexpected(talk_failure(path_, "it ended the connection; see its log (journalctl -u omxd)"));
  }
  if (message.msg_flags & MSG_CTRUNC)
    return tl::unexpected(
        talk_failure(path_, "no descriptor is left; raise the limit of open files (ulimit -n)"));
  packet.length = static_cast<std::size_t>(length);
  return {};
}

Result<Reply> Connection::take(Kind kind) {
  Packet packet;
  if (auto received = receive(packet); !received) return tl::unexpected(received.error());
  Reply reply;
  const std::string objection =
      answer_read(std::span(packet.bytes).first(packet.length), kind, reply.answer, reply.boards);
  if (!objection.empty()) return tl::unexpected(talk_failure(path_, objection));
  if (reply.answer.code != 0) return fail(static_cast<int>(reply.answer.code), text_load(reply.answer.text));
  reply.descriptors = std::move(packet.descriptors);
  return reply;
}

// Drops the answers that came too late, with their descriptors.
Result<void> Connection::late_drop() {
  while (late_ > 0) {
    if (!readable()) return tl::unexpected(talk_failure(path_, "it does not answer"));
    Packet packet;
    auto received = receive(packet);
    if (ended_) return received;
    late_--;
  }
  return {};
}

Result<Reply> Connection::ask(const Request& request, Time until) {
  if (auto dropped = late_drop(); !dropped) return tl::unexpected(dropped.error());
  // The broker may have refused already, and ended the connection.
  const bool sent = send(request);
  if (!sent && !readable()) return tl::unexpected(talk_failure(path_, "it takes no request"));
  if (!await(until)) {
    late_++;
    return tl::unexpected(talk_failure(path_, "no answer in time; see its log (journalctl -u omxd)"));
  }
  return take(static_cast<Kind>(request.head.kind));
}

}  // namespace omx::broker
