// SPDX-License-Identifier: BSD-3-Clause
// A thread that copies, for machines without a device and with a processor to spare. It spins for a few
// microseconds after its last piece and then sleeps.
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <vector>

#include "base/expected.h"
#include "base/fork_guard.h"
#include "base/wake_flag.h"
#include "copy/engine.h"

namespace omx::copy {

struct ThreadOptions {
  std::uint32_t most_outstanding = 64;  // 1 to 65536; rounded up to a power of two
  std::uint32_t least_piece = 4096;     // bytes; waking the thread costs more than copying less
};

class ThreadEngine final : public CopyEngine {
 public:
  // Starts the thread. Fails when the system has no thread or memory left. The thread runs where the caller
  // may run, and gets no signals.
  static Result<std::unique_ptr<CopyEngine>> create(const ThreadOptions& options);
  ~ThreadEngine() override;

  Capabilities capabilities() const override;
  // Returns unavailable in a forked child, which has no copy thread. Pieces outstanding there fail.
  Submission submit(const Piece& piece) override;
  std::uint32_t poll(std::uint32_t budget) override;
  bool drain(TimeNs deadline) override;
  bool failed(Ticket ticket) const override;
  const char* disabled_reason() const override;

 private:
  // A park slot. The flag is armed while its thread sleeps or is about to. It has a cache line of its own.
  struct alignas(64) ParkSlot {
    WakeFlag flag;
    void wake();
    // Sleeps until the deadline, unless woken since the flag was armed.
    void sleep(TimeNs deadline);
  };

  explicit ThreadEngine(const ThreadOptions& options);
  static void* run(void* self);
  void work();
  bool wait_for_piece(Ticket next);
  bool forked();  // returns whether this is a forked child, and ends all tickets there

  const ThreadOptions options_;
  const bool cached_;  // the processors of both threads share a cache
  const ForkMark mark_;
  // index: ticket modulo the size; the owner writes a piece before it publishes the ticket
  std::vector<Piece> pieces_;
  pthread_t thread_{};
  bool running_ = false;
  Ticket failed_from_ = ~Ticket{0};  // in a forked child

  // News of one thread for the other. It is stored with release before the other's flag is taken, and loaded
  // with acquire after the own flag was armed.
  alignas(64) std::atomic<Ticket> published_{0};  // written by the owner
  std::atomic<bool> ending_{false};               // written by the owner
  alignas(64) std::atomic<Ticket> done_{0};       // written by the copy thread
  ParkSlot helper_;
  ParkSlot owner_;
};

}  // namespace omx::copy
