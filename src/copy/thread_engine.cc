// SPDX-License-Identifier: BSD-3-Clause
#include "copy/thread_engine.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/affinity.h"
#include "base/cache_topology.h"
#include "base/futex.h"
#include "base/no_cancel.h"
#include "base/no_signals.h"

namespace omx::copy {

namespace {

constexpr int kNoResources = 15;  // MX_NO_RESOURCES

// Long enough for the next piece of a batch, short compared with a wake-up (about 5 us and a system call).
constexpr TimeNs kSpinNs = 5000;

}  // namespace

void ThreadEngine::ParkSlot::wake() {
  if (flag.take()) futex_wake(flag.word(), 1);
}

void ThreadEngine::ParkSlot::sleep(TimeNs deadline) {
  futex_wait(flag.word(), WakeFlag::kArmed, deadline);
}

ThreadEngine::ThreadEngine(const ThreadOptions& options)
    : options_(options),
      cached_(cache_shared(affinity_read())),
      pieces_(std::bit_ceil(std::clamp(options.most_outstanding, 1U, 65536U))) {}

Result<std::unique_ptr<CopyEngine>> ThreadEngine::create(const ThreadOptions& options) {
  std::unique_ptr<ThreadEngine> engine;
  try {
    engine.reset(new ThreadEngine(options));
  } catch (const std::bad_alloc&) {
    return fail(kNoResources, "copy engine thread: no memory left for its queue");
  }
  const NoSignals no_signals;
  const int error = ::pthread_create(&engine->thread_, nullptr, run, engine.get());
  if (error)
    return fail(kNoResources,
                fmt::format("copy engine thread: the system gives no thread ({}); see ulimit -u",
                            std::strerror(error)));
  engine->running_ = true;
  return engine;
}

ThreadEngine::~ThreadEngine() {
  if (!running_ || mark_.forked()) return;
  const NoCancel no_cancel;
  ending_.store(true, std::memory_order_release);
  helper_.wake();
  ::pthread_join(thread_, nullptr);
}

Capabilities ThreadEngine::capabilities() const {
  return {.name = "thread",
          .asynchronous = true,
          .cached = cached_,
          .least_piece = options_.least_piece,
          .most_outstanding = static_cast<std::uint32_t>(pieces_.size())};
}

bool ThreadEngine::forked() {
  if (!mark_.forked()) return false;
  if (completed_ != submitted_) {
    failed_from_ = std::min(failed_from_, completed_ + 1);
    counters_.add(Counter::failed, outstanding());
    completed_ = submitted_;
  }
  return true;
}

Submission ThreadEngine::submit(const Piece& piece) {
  if (forked()) return {};
  if (outstanding() == pieces_.size()) completed_ = done_.load(std::memory_order_acquire);
  if (outstanding() == pieces_.size()) {
    counters_.add(Counter::busy);
    return {Answer::busy, 0};
  }
  counters_.add(Counter::pieces);
  counters_.add(Counter::bytes, piece.bytes);
  submitted_++;
  pieces_[submitted_ & (pieces_.size() - 1)] = piece;
  published_.store(submitted_, std::memory_order_release);
  helper_.wake();
  return {Answer::accepted, submitted_};
}

std::uint32_t ThreadEngine::poll(std::uint32_t) {
  const Ticket before = completed_;
  if (!forked() && completed_ != submitted_) completed_ = done_.load(std::memory_order_acquire);
  return static_cast<std::uint32_t>(completed_ - before);
}

bool ThreadEngine::drain(TimeNs deadline) {
  poll(0);
  if (completed_ == submitted_) return true;
  const TimeNs begin = clock_now();
  TimeNs now = begin;
  const TimeNs spin_until = now + kSpinNs;
  while (completed_ != submitted_ && now < deadline) {
    if (now < spin_until) {
      cpu_relax();
    } else {
      owner_.flag.arm();
      if (done_.load(std::memory_order_acquire) != submitted_) owner_.sleep(deadline);
      owner_.flag.disarm();
    }
    poll(0);
    now = clock_now();
  }
  counters_.add(Counter::waited_ns, now - begin);
  return completed_ == submitted_;
}

bool ThreadEngine::failed(Ticket ticket) const {
  return ticket >= failed_from_ && ticket <= completed_;
}

const char* ThreadEngine::disabled_reason() const {
  return mark_.forked() ? "this process was forked from the one that has the helper thread" : "";
}

// --- the copy thread ---

void* ThreadEngine::run(void* self) {
  ::pthread_setname_np(::pthread_self(), "omx-copy");
  static_cast<ThreadEngine*>(self)->work();
  return nullptr;
}

// Returns false when the engine ends and nothing is left to copy.
bool ThreadEngine::wait_for_piece(Ticket next) {
  if (published_.load(std::memory_order_acquire) >= next) return true;
  const TimeNs spin_until = clock_now() + kSpinNs;
  do {
    cpu_relax();
    if (published_.load(std::memory_order_acquire) >= next) return true;
  } while (clock_now() < spin_until);
  for (;;) {
    helper_.flag.arm();
    if (published_.load(std::memory_order_acquire) >= next) break;
    if (ending_.load(std::memory_order_acquire)) return false;
    helper_.sleep(kNever);
  }
  helper_.flag.disarm();
  return true;
}

void ThreadEngine::work() {
  // the last one published; read only when all of these are done, as the cache line belongs to the owner
  Ticket known = 0;
  for (Ticket next = 1;; next++) {
    if (next > known) {
      if (!wait_for_piece(next)) return;
      known = published_.load(std::memory_order_acquire);
    }
    const Piece& piece = pieces_[next & (pieces_.size() - 1)];
    if (piece.bytes) std::memcpy(piece.destination, piece.source, piece.bytes);
    // The owner sleeps only until all that it submitted is done.
    done_.store(next, std::memory_order_release);
    if (next != known) continue;
    known = published_.load(std::memory_order_acquire);
    if (next == known) owner_.wake();
  }
}

}  // namespace omx::copy
