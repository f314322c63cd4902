// SPDX-License-Identifier: BSD-3-Clause
// A broker that does only what its test says: a listening socket, and answers that are made up.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/own_fd.h"
#include "broker/message.h"
#include "link/packet/packet_ring.h"

namespace omx::broker {

// Waits for what a process does. Returns false after a minute.
inline bool awaited(const OwnFd& fd) {
  pollfd look{fd.get(), POLLIN, 0};
  return ::poll(&look, 1, 60'000) == 1;
}

// The broker's end of a connection.
class FakeClient {
 public:
  FakeClient() = default;
  explicit FakeClient(OwnFd fd) : fd_(std::move(fd)) {}

  // Waits for a request. Returns nullopt when the connection is at its end.
  std::optional<Request> request() {
    Request request;
    iovec piece{&request, sizeof request};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (!awaited(fd_) || ::recvmsg(fd_.get(), &message, 0) != sizeof request) return std::nullopt;
    EXPECT_FALSE(message.msg_flags & MSG_CTRUNC) << "no request carries a descriptor";
    return request;
  }
  bool request_comes(Kind kind) {
    const auto got = request();
    return got && got->head.kind == static_cast<std::uint16_t>(kind);
  }
  // Returns whether a request has come.
  bool asks() const {
    pollfd look{fd_.get(), POLLIN, 0};
    return ::poll(&look, 1, 0) == 1;
  }

  void answer(Kind kind, Answer answer = {}, const std::vector<int>& descriptors = {}) {
    answer.head.kind = static_cast<std::uint16_t>(kind);
    send(&answer, sizeof answer, descriptors);
  }
  void refuse(Kind kind, int code, const std::string& why) {
    Answer refusal;
    refusal.code = static_cast<std::uint32_t>(code);
    text_store(refusal.text, why);
    answer(kind, refusal);
  }
  void close() { fd_.reset(); }

 private:
  void send(const void* bytes, std::size_t length, const std::vector<int>& descriptors) {
    iovec piece{const_cast<void*>(bytes), length};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorsMost * sizeof(int))> control{};
    if (!descriptors.empty()) {
      const std::size_t size = descriptors.size() * sizeof(int);
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(size);
      cmsghdr* const part = CMSG_FIRSTHDR(&message);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(size);
      std::memcpy(CMSG_DATA(part), descriptors.data(), size);
    }
    EXPECT_EQ(::sendmsg(fd_.get(), &message, MSG_NOSIGNAL), static_cast<ssize_t>(length));
  }

  OwnFd fd_;
};

class FakeBroker {
 public:
  explicit FakeBroker(int queue = 16) {
    char folder[] = "/tmp/omx_fake_broker_XXXXXX";
    EXPECT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
    start(queue);
  }
  ~FakeBroker() { std::filesystem::remove_all(folder_); }
  FakeBroker(const FakeBroker&) = delete;
  FakeBroker& operator=(const FakeBroker&) = delete;

  std::string path() const { return folder_ + "/broker"; }
  void start(int queue = 16) {
    std::filesystem::remove(path());
    fd_ = OwnFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const sockaddr_un address = place();
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd_.get(), queue), 0);
  }
  // Ends the broker. Its socket stays, as a killed one's does.
  void end() { fd_.reset(); }

  FakeClient accept() {
    EXPECT_TRUE(awaited(fd_)) << "no process connects";
    return FakeClient(OwnFd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  }
  // Returns whether a process waits to be accepted.
  bool called() const {
    pollfd look{fd_.get(), POLLIN, 0};
    return ::poll(&look, 1, 0) == 1;
  }
  // Fills the queue with connections. They leave it by accept() only.
  void queue_fill() {
    const sockaddr_un address = place();
    for (;;) {
      OwnFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) break;
      queued_.push_back(std::move(fd));
    }
    EXPECT_EQ(errno, EAGAIN);
  }
  void queue_empty() {
    for (std::size_t i = 0; i < queued_.size(); i++) accept();
    queued_.clear();
  }

 private:
  sockaddr_un place() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path().c_str(), path().size() + 1);
    return address;
  }

  std::string folder_;
  OwnFd fd_;
  std::vector<OwnFd> queued_;
};

// A packet socket and memory for the classes, as a broker grants them.
struct FakeGrant {
  FakeGrant() {
    EXPECT_EQ(::ftruncate(classes.get(), ::sysconf(_SC_PAGESIZE)), 0);
    const link::RingGeometry ring = link::ring_geometry(1500, 64, 1U << 20);
    answer.slot_bytes = ring.slot_bytes;
    answer.block_bytes = ring.block_bytes;
    answer.blocks = ring.blocks;
    answer.slots_per_block = ring.slots_per_block;
  }
  std::vector<int> descriptors() const { return {socket.get(), classes.get()}; }

  Answer answer;
  OwnFd socket{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
  OwnFd classes{::memfd_create("classes", MFD_CLOEXEC)};
};

}  // namespace omx::broker
