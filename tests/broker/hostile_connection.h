// SPDX-License-Identifier: BSD-3-Clause
// What a user sends who wants to hold the broker up: descriptors that take long to close.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <utility>
#include <vector>

#include "base/own_fd.h"

namespace omx::broker {

// Sends a packet, with a descriptor unless it is negative. Returns whether that was possible.
inline bool packet_send(const OwnFd& connection, const void* packet, std::size_t bytes, int descriptor = -1) {
  iovec piece{const_cast<void*>(packet), bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(part), &descriptor, sizeof descriptor);
  }
  return ::sendmsg(connection.get(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
}

// Makes TCP sockets whose last close waits for a peer that does not read.
class SlowSockets {
 public:
  explicit SlowSockets(int seconds)
      : seconds_(seconds), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address_;
    auto* const address = reinterpret_cast<sockaddr*>(&address_);
    EXPECT_EQ(::bind(listener_.get(), address, length), 0);
    EXPECT_EQ(::listen(listener_.get(), 64), 0);
    EXPECT_EQ(::getsockname(listener_.get(), address, &length), 0);
  }
  OwnFd open() {
    OwnFd sender(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(sender.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_), 0);
    accepted_.emplace_back(::accept(listener_.get(), nullptr, nullptr));
    EXPECT_TRUE(accepted_.back().open());
    const linger wait{1, seconds_};
    ::setsockopt(sender.get(), SOL_SOCKET, SO_LINGER, &wait, sizeof wait);
    const std::vector<char> bytes(1 << 16);
    while (::send(sender.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
    }
    return sender;
  }

 private:
  const int seconds_;
  OwnFd listener_;
  sockaddr_in address_{};
  std::vector<OwnFd> accepted_;
};

}  // namespace omx::broker
