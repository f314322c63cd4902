// SPDX-License-Identifier: BSD-3-Clause
#include "local/unknown_peers.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <utility>

#include "base/shortage.h"
#include "local/credentials.h"
#include "local/hello.h"

namespace omx::local {

namespace {

// A peer sends its hello at once, so few connections wait for one. Beyond this number the oldest is closed.
constexpr std::size_t kUnknownMost = 64;

// Returns false, with errno, if no descriptor is available.
bool descriptor_free() {
  return OwnFd(::epoll_create1(EPOLL_CLOEXEC)).open();
}

}  // namespace

UnknownPeers::UnknownPeers(int listener, DescriptorSet& descriptors, Refusals& refusals, Incoming& incoming)
    : descriptors_(descriptors),
      refusals_(refusals),
      incoming_(incoming),
      listener_(listener),
      listens_(descriptors.add(listener)) {}

bool UnknownPeers::listener_set(int listener) {
  if (!descriptors_.add(listener)) return false;
  descriptors_.remove(listener_);
  listener_ = listener;
  masked_ = false;
  return listens_ = true;
}

void UnknownPeers::accept() {
  bool masked = false;
  for (std::size_t i = 0; i < kUnknownMost && !masked; i++) {
    OwnFd connection(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection.open()) {
      masked = is_shortage(errno);
      if (masked) refusals_.no_room(errno);
      break;
    }
    ucred credentials{};
    if (!trusted(connection, credentials))
      refusals_.unknown_peer(connection, credentials);
    else if (descriptors_.add(connection.get()))  // its hello may come when we sleep
      connections_.push_back(std::move(connection));
  }
  if (masked == masked_) return;
  // A peer that waits to be accepted would end every sleep at once.
  descriptors_.mask(listener_, masked);
  masked_ = masked;
}

// Reads the hello of a connection. Returns false if none has come yet.
bool UnknownPeers::hear(OwnFd& connection) {
  Hello hello;
  OwnFd memory;
  const int heard = hello_receive(connection.get(), hello, memory);
  if (heard == 0) return false;
  if (heard > 0)
    incoming_.adopt(std::move(connection), hello, std::move(memory));
  else if (hello.magic == Hello::kMagic && hello.version != kRingVersion)
    refusals_.other_version(connection, hello);
  else if (hello.magic == Hello::kMagic && !memory.open() && !descriptor_free())
    refusals_.no_room(errno);  // the kernel dropped the descriptor that came with the hello
  return true;
}

void UnknownPeers::hear() {
  accept();
  for (auto it = connections_.begin(); it != connections_.end();) {
    if (hear(*it))
      it = connections_.erase(it);
    else
      ++it;
  }
  if (connections_.size() > kUnknownMost)
    connections_.erase(connections_.begin(), connections_.begin() + static_cast<std::ptrdiff_t>(
                                                                        connections_.size() - kUnknownMost));
}

}  // namespace omx::local
