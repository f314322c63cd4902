// SPDX-License-Identifier: BSD-3-Clause
// Hubs of one process that meet over abstract sockets, and what they reported.
#pragma once

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "local/hello.h"
#include "local/hub.h"
#include "local/memory_access.h"

namespace omx::local {
using Bytes = std::vector<std::byte>;

inline constexpr std::size_t kMostHeader = 320;
inline constexpr NicId kNic = 0x020000000001, kOtherNic = 0x020000000002;

inline socklen_t address_of(const Place& place, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  const std::string name = "omx-hub-test/" + std::to_string(::getpid()) + "/" + std::to_string(place.nic) +
                           "/" + std::to_string(place.endpoint);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

inline OwnFd socket_to(const Place& place) {
  OwnFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address;
  const socklen_t length = address_of(place, address);
  if (fd.open() && ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), length) < 0) {
    const int error = errno;
    fd.reset();
    errno = error;
  }
  return fd;
}

inline OwnFd listener_at(const Place& place) {
  OwnFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address;
  const socklen_t length = address_of(place, address);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(::listen(fd.get(), 256), 0);
  return fd;
}

// Returns a frame of `length` payload bytes from one place to another, drawn from `seed`.
inline Bytes frame(const Place& from, const Place& to, std::uint64_t seed, std::size_t length) {
  Bytes bytes(kMostHeader + length);
  wire::Medium packet;
  packet.dst_endpoint = to.endpoint;
  packet.src_endpoint = from.endpoint;
  const std::size_t head = wire::encode_medium(
      bytes.data(), wire::Head{to.nic, from.nic, 0, wire::PacketType::medium}, wire::Mode::omx, packet);
  bytes.resize(std::max(head + length, wire::kMinFrame));
  random_fill(std::span(bytes).subspan(head), seed);
  return bytes;
}

class Site final : public Arrivals {
 public:
  explicit Site(const Place& place, bool direct = true) : place_(place), listener_(listener_at(place)) {
    HubOptions options;
    options.self = place;
    options.nics = {kNic, kOtherNic};
    options.listener = listener_.get();
    options.direct = direct;
    options.connect = socket_to;
    hub_ = std::make_unique<Hub>(std::move(options));
  }
  Hub& operator*() { return *hub_; }
  Hub* operator->() { return hub_.get(); }
  void on_local_frame(wire::Frame f) override { frames.emplace_back(f.begin(), f.end()); }
  void on_local_gone(const Place& peer) override { gone.push_back(peer); }
  void on_local_refused(wire::Frame f) override { refused.emplace_back(f.begin(), f.end()); }

  void send(const Bytes& bytes) {
    const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
    hub_->send({&piece, 1});
    hub_->flush();
  }
  void turn() {
    hub_->tick(*this);
    hub_->receive(*this, 1000);
  }
  void close() {
    hub_.reset();
    listener_.reset();
  }
  const Place& place() const { return place_; }

  std::vector<Bytes> frames, refused;
  std::vector<Place> gone;

 private:
  Place place_;
  OwnFd listener_;
  std::unique_ptr<Hub> hub_;
};

class HubTest : public testing::Test {
 protected:
  void send(Site& from, Site& to, std::uint64_t seed, std::size_t length = 100) {
    from.send(frame(from.place(), to.place(), seed, length));
  }
  // Expects that exactly the frames with these seeds came, in order.
  void expect_frames(Site& from, Site& to, std::uint64_t first, std::uint64_t count,
                     std::size_t length = 100) {
    ASSERT_EQ(to.frames.size(), count);
    for (std::uint64_t i = 0; i < count; i++)
      ASSERT_EQ(to.frames[i], frame(from.place(), to.place(), first + i, length)) << i;
    to.frames.clear();
  }
  // A process that has a ring but no hub.
  struct Raw {
    OwnFd connection;
    SharedMemory memory;
  };
  Raw raw(const Site& to, Hello hello, std::size_t bytes = ring_memory(kRingBytes)) {
    Raw r{socket_to(to.place()), SharedMemory::create(bytes)};
    EXPECT_TRUE(r.connection.open() && r.memory.mapped());
    EXPECT_TRUE(hello_send(r.connection.get(), hello, r.memory.descriptor()));
    return r;
  }
  static Hello hello_of(const Place& place) {
    Hello hello;
    hello.nic = place.nic;
    hello.endpoint = place.endpoint;
    hello.proof_at = proof_address();
    return hello;
  }
  static bool wakes(Site& site) {
    pollfd wait{site->descriptor(), POLLIN, 0};
    return ::poll(&wait, 1, 0) == 1;
  }
  static bool hung_up(const OwnFd& connection) {
    char byte;
    return ::recv(connection.get(), &byte, 1, MSG_DONTWAIT) == 0;
  }

  Site a{{kNic, 1}}, b{{kOtherNic, 2}};
};

}  // namespace omx::local
