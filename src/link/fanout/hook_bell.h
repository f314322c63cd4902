// SPDX-License-Identifier: BSD-3-Clause
// A bell (bell.h) of a hook group. To make one takes waits for the kernel, so the group's keeper does it, and
// frames are waited for without it in the meantime.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/fork_guard.h"
#include "link/fanout/hook_place.h"
#include "link/fanout/hook_work.h"

namespace omx::link {

class HookBell final : public HookTask {
 public:
  HookBell() = default;
  HookBell(const HookBell&) = delete;
  HookBell& operator=(const HookBell&) = delete;
  ~HookBell() override { close(); }

  // The first call asks for it. True: it is there. It ends before the place of its endpoint does.
  bool open(const HookPlace& beside, std::uint8_t endpoint);
  void close();
  // -1 before it is there.
  int socket() const {
    const HookPlace* place = place_.load(std::memory_order_acquire);
    return place ? place->socket() : -1;
  }

 private:
  void run() override;

  HookGroup* group_ = nullptr;  // of the place beside it, which outlives this
  std::uint8_t endpoint_ = 0;
  std::atomic<HookPlace*> place_{nullptr};  // set by the keeper, once
  ForkMark mark_;
};

}  // namespace omx::link
