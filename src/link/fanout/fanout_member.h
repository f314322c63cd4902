// SPDX-License-Identifier: BSD-3-Clause
// A member in a packet fanout group, as its holder has it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/fork_guard.h"
#include "base/own_fd.h"
#include "link/fanout/fanout_group.h"

namespace omx::link {

// The right to one socket of a group. The holder's frames come to it after enter().
class FanoutMember {
 public:
  FanoutMember() = default;
  // `lock`: that of the member, taken. `used`: it was somebody else's.
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
  // It was somebody else's: its ring may begin anywhere, and hold anything.
  bool used() const { return used_; }
  FanoutGroup& group() const { return *group_; }
  // From now on frames for the endpoint come here. False: they do not; leave.
  bool enter(std::uint8_t endpoint);
  // The socket stays in the group, for whoever comes next. Unmap the ring before.
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
