// SPDX-License-Identifier: BSD-3-Clause
// A wake-up socket (wakeup.h) in a packet fanout group. Making one waits for the kernel, so the group's
// keeper does it. Meanwhile threads wait for frames without it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/fork_guard.h"
#include "link/fanout/fanout_member.h"
#include "link/fanout/fanout_work.h"

namespace omx::link {

class FanoutWakeup final : public FanoutTask {
 public:
  FanoutWakeup() = default;
  FanoutWakeup(const FanoutWakeup&) = delete;
  FanoutWakeup& operator=(const FanoutWakeup&) = delete;
  ~FanoutWakeup() override { close(); }

  // Asks for the socket at the first call. Returns whether it is there. It ends before the member of its
  // endpoint does.
  bool open(const FanoutMember& beside, std::uint8_t endpoint);
  void close();
  // Returns the socket, or -1 before it is there.
  int socket() const {
    const FanoutMember* member = member_.load(std::memory_order_acquire);
    return member ? member->socket() : -1;
  }

 private:
  void run() override;

  FanoutGroup* group_ = nullptr;  // of the endpoint's member, which outlives this
  std::uint8_t endpoint_ = 0;
  std::atomic<FanoutMember*> member_{nullptr};  // set by the keeper, once
  ForkMark mark_;
};

}  // namespace omx::link
