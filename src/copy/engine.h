// SPDX-License-Identifier: BSD-3-Clause
// A copy engine moves bytes from one place of this process's memory to another, perhaps while its owner does
// something else (spec: copy-offload.md 10).
//
// Thread safety: one thread, the owner, makes all calls. Nothing here throws.
// Ownership: source and destination stay the caller's. Until completed() reaches the piece's ticket the
// source must not change (so a slot of a receive ring is held), and the destination must not be used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "copy/counters.h"

namespace omx::copy {

// Times are on CLOCK_MONOTONIC (in tests and in simulation: on the clock that the engine was given).
inline TimeNs elapsed(TimeNs since, TimeNs now) {
  return now > since ? now - since : 0;
}

// 1, 2, 3 ... in the order of submission, per engine.
using Ticket = std::uint64_t;

struct Piece {
  const std::byte* source = nullptr;
  std::byte* destination = nullptr;  // must not overlap the source
  std::size_t bytes = 0;             // may be 0: done at once
  // Every page of both was touched lately (the destination: written to), so a device will not fault on them.
  bool resident = false;
};

enum class Answer : std::uint8_t {
  accepted,     // has a ticket
  busy,         // as much as possible is outstanding: poll and try again, or copy by oneself
  unavailable,  // for good: the engine is switched off (why: disabled_reason()), or this is a forked child
};

struct Submission {
  Answer answer = Answer::unavailable;
  Ticket ticket = 0;  // 0: not accepted
};

struct Capabilities {
  const char* name = "";               // as in engine_name()
  bool asynchronous = false;           // false: submit() returns when the piece is copied
  std::uint32_t least_piece = 0;       // bytes; smaller ones the caller copies faster by itself
  std::uint32_t most_outstanding = 1;  // tickets beyond completed(); with so many, submit() is busy
};

class CopyEngine {
 public:
  CopyEngine() = default;
  CopyEngine(const CopyEngine&) = delete;
  CopyEngine& operator=(const CopyEngine&) = delete;
  // Waits for what is outstanding, as long as drain(kNever) would.
  virtual ~CopyEngine() = default;

  virtual Capabilities capabilities() const = 0;

  // Does not wait. A piece may be kept back until the next poll(), so that several share one system call:
  // submit what a batch of frames brings, then poll once.
  virtual Submission submit(const Piece& piece) = 0;

  // Starts what was kept back, looks at up to `budget` of the oldest pieces, and returns by how many tickets
  // completed() grew. Does not wait. Call it regularly while anything is outstanding, also after the engine
  // became unavailable: deadlines are noticed here.
  virtual std::uint32_t poll(std::uint32_t budget) = 0;

  // Polls until nothing is outstanding (true) or the deadline has passed (false). Spins briefly, then sleeps.
  // kNever is no risk: every engine gives up lost pieces by itself. An owner that is about to sleep in the
  // kernel drains first: no descriptor becomes readable when a piece is done.
  virtual bool drain(TimeNs deadline) = 0;

  // Of a ticket that is over: whether its request must be failed although the bytes look right. The device
  // never said that it is done (copy-offload.md 6): it may still read the source and write the destination
  // at any time. Memory of either that belongs to us must not be used again in this process; the engine
  // is unavailable from then on, so there are no more of them than `most_outstanding`. The answer stays.
  virtual bool failed(Ticket) const { return false; }

  // Empty while submit() may accept pieces; else one sentence.
  virtual const char* disabled_reason() const { return ""; }

  // The newest ticket, and the one up to which all are over: copied, or failed(). Moves in the calls above
  // only, and only forwards.
  Ticket submitted() const { return submitted_; }
  Ticket completed() const { return completed_; }
  std::uint32_t outstanding() const { return static_cast<std::uint32_t>(submitted_ - completed_); }

  const Counters& counters() const { return counters_; }

 protected:
  Ticket submitted_ = 0;
  Ticket completed_ = 0;
  Counters counters_;
};

}  // namespace omx::copy
