// SPDX-License-Identifier: BSD-3-Clause
// A member of a packet fanout group, as its holder has it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/fork_guard.h"
#include "base/own_fd.h"
#include "link/fanout/fanout_group.h"

namespace omx::link {

// The right to one socket of a group. After enter() the endpoint's frames come to that socket.
class FanoutMember {
 public:
  FanoutMember() = default;
  // `lock` is the member's lock, already taken. `used` says that the socket had a holder before.
  FanoutMember(std::shared_ptr<FanoutGroup> group, std::uint32_t number, OwnFd lock, OwnFd socket, bool used)
      : group_(std::move(group)),
        number_(number),
        lock_(std::move(lock)),
        socket_(std::move(socket)),
        used_(used) {}
  FanoutMember(FanoutMember&&) = default;
  FanoutMember& operator=(FanoutMember&&) = default;
  ~FanoutMember() { leave(); }

  bool held() const { return group_ != nullptr; }
  int socket() const { return socket_.get(); }
  std::uint32_t number() const { return number_; }
  RingGeometry geometry() const;
  // Returns whether the socket had a holder before: its ring may begin anywhere, and hold anything.
  bool used() const { return used_; }
  FanoutGroup& group() const { return *group_; }
  // Makes frames for the endpoint come here from now on. Returns false when they do not; the caller must
  // leave() then.
  bool enter(std::uint8_t endpoint);
  // Leaves the socket in the group, for the next holder. Unmap the ring before the call.
  void leave();

 private:
  std::shared_ptr<FanoutGroup> group_;
  std::uint32_t number_ = 0;
  OwnFd lock_;
  OwnFd socket_;
  bool used_ = false;
  ForkMark mark_;
};

}  // namespace omx::link
