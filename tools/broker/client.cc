// SPDX-License-Identifier: BSD-3-Clause
#include "tools/broker/client.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/process_stat.h"

namespace omx::broker {

namespace {

constexpr std::size_t kGroupsMost = 65536;  // NGROUPS_MAX

std::vector<gid_t> peer_groups(int fd) {
  std::vector<gid_t> groups(64);
  for (;;) {
    auto bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) == 0) {
      groups.resize(bytes / sizeof(gid_t));
      return groups;
    }
    if (errno != ERANGE || groups.size() >= kGroupsMost) return {};
    groups.resize(groups.size() * 4);
  }
}

}  // namespace

std::uint64_t process_started(pid_t pid) {
  const auto process = process_stat(pid);
  return process ? process->started : 0;
}

bool client_identify(Client& client) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  const int fd = client.socket.get();
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return false;
  client.pid = credentials.pid;
  client.started = process_started(credentials.pid);
  client.user.uid = credentials.uid;
  client.user.gids = peer_groups(fd);
  if (std::ranges::find(client.user.gids, credentials.gid) == client.user.gids.end())
    client.user.gids.push_back(credentials.gid);
  return true;
}

bool answer_send(const Client& client, Kind kind, Answer& answer, std::span<const BoardRecord> boards,
                 std::span<const int> descriptors) {
  answer.head = Head{kMagic, kVersion, static_cast<std::uint16_t>(kind)};
  answer.count = static_cast<std::uint32_t>(boards.size());
  std::array<iovec, 2> pieces{iovec{&answer, sizeof answer},
                              iovec{const_cast<BoardRecord*>(boards.data()), boards.size_bytes()}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorsMost * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
  }
  return ::sendmsg(client.socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

void refusal_send(const Client& client, Kind kind, const Failure& failure) {
  Answer answer;
  answer.code = static_cast<std::uint32_t>(std::max(failure.mx_code, 1));
  text_store(answer.text, failure.message);
  answer_send(client, kind, answer);
}

namespace {

struct Look {
  ssize_t length = -1;  // with errno if it is -1
  bool ended = false;
  bool descriptors = false;
};

// Looks at the next message without taking it. There is room for the sender, but none for descriptors. A look
// does not take those, either, so none is closed.
Look message_look(int fd, std::span<std::byte> packet) {
  iovec piece{packet.data(), packet.size()};
  alignas(cmsghdr) std::array<char, CMSG_LEN(sizeof(ucred))> sender{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = sender.data();
  message.msg_controllen = sender.size();
  Look look;
  look.length = ::recvmsg(fd, &message, MSG_DONTWAIT | MSG_PEEK);
  look.descriptors = look.length >= 0 && (message.msg_flags & MSG_CTRUNC);
  look.ended = look.length == 0 && message.msg_controllen == 0 && !look.descriptors;
  return look;
}

}  // namespace

std::optional<Incoming> request_take(const Client& client) {
  Incoming incoming;
  // One byte more than a request, so that a longer one is noticed.
  incoming.packet.resize(sizeof(Request) + 1);
  const int fd = client.socket.get();
  const Look look = message_look(fd, incoming.packet);
  if (look.length < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  incoming.hostile = look.descriptors;
  incoming.ended = look.length <= 0;
  incoming.packet.resize(look.length > 0 ? static_cast<std::size_t>(look.length) : 0);
  if (!incoming.hostile && !incoming.ended) ::recv(fd, nullptr, 0, MSG_DONTWAIT);
  return incoming;
}

void descriptors_refuse(int fd) {
  constexpr int kPassRights = 83;  // SO_PASSRIGHTS, which older headers lack
  const int none = 0;
  ::setsockopt(fd, SOL_SOCKET, kPassRights, &none, sizeof none);
}

void senders_ask(int fd) {
  const int one = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof one);
}

bool descriptors_left(const OwnFd& socket) {
  constexpr unsigned kMost = 256;
  std::array<std::byte, 1> byte;
  for (unsigned i = 0; i < kMost; i++) {
    const Look look = message_look(socket.get(), byte);
    if (look.descriptors) return true;
    if (look.ended || (look.length < 0 && errno != ECONNRESET && errno != EINTR)) return false;
    ::recv(socket.get(), nullptr, 0, MSG_DONTWAIT);
  }
  return true;
}

}  // namespace omx::broker
