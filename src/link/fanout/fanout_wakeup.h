// SPDX-License-Identifier: BSD-3-Clause
// A wake-up socket (wakeup.h) of a packet fanout group. To make one takes waits for the kernel, so the
// group's keeper does it, and frames are waited for without it in the meantime.
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

  // The first call asks for it. True: it is there. It ends before the member of its endpoint does.
  bool open(const FanoutMember& beside, std::uint8_t endpoint);
  void close();
  // -1 before it is there.
  int socket() const {
    const FanoutMember* member = member_.load(std::memory_order_acquire);
    return member ? member->socket() : -1;
  }

 private:
  void run() override;

  FanoutGroup* group_ = nullptr;  // of the member beside it, which outlives this
  std::uint8_t endpoint_ = 0;
  std::atomic<FanoutMember*> member_{nullptr};  // set by the keeper, once
  ForkMark mark_;
};

}  // namespace omx::link
