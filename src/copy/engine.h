// SPDX-License-Identifier: BSD-3-Clause
// A copy engine moves bytes within this process's memory, if possible while its owner does something else
// (docs/spec/copy-offload.md 10).
//
// Thread safety: one thread, the owner, makes all calls. No function throws.
//
// Ownership: source and destination stay the caller's. Until completed() reaches the piece's ticket, the
// source must not change and the destination must not be used. So a slot of a receive ring is held until
// then.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "copy/counters.h"

namespace omx::copy {

// Times are on CLOCK_MONOTONIC. In tests and in simulation they are on the clock that the engine was given.
inline TimeNs elapsed(TimeNs since, TimeNs now) {
  return now > since ? now - since : 0;
}

// 1, 2, 3 ... in the order of submission to one engine.
using Ticket = std::uint64_t;

struct Piece {
  const std::byte* source = nullptr;
  std::byte* destination = nullptr;  // must not overlap the source
  std::size_t bytes = 0;             // may be 0: done at once
  // Every page of both was recently touched (the destination: written to), so a device will not fault on
  // them.
  bool resident = false;
  // Names its message, so that an engine of several channels copies each message by one of them.
  std::uint32_t channel = 0;
};

enum class Answer : std::uint8_t {
  accepted,     // has a ticket
  busy,         // the engine has all that it can hold: poll and try again, or copy yourself
  unavailable,  // permanent: the engine is switched off (see disabled_reason()), or this is a forked child
};

struct Submission {
  Answer answer = Answer::unavailable;
  Ticket ticket = 0;  // 0: not accepted
};

struct Capabilities {
  const char* name = "";               // as in engine_name()
  bool asynchronous = false;           // false: submit() returns when the piece is copied
  bool cached = true;                  // the destination is in a cache of the owner's processor then
  std::uint32_t least_piece = 0;       // bytes; the caller copies smaller pieces faster itself
  std::uint32_t most_outstanding = 1;  // tickets beyond completed(); with that many, submit() is busy
};

class CopyEngine {
 public:
  CopyEngine() = default;
  CopyEngine(const CopyEngine&) = delete;
  CopyEngine& operator=(const CopyEngine&) = delete;
  // Waits for outstanding pieces, as long as drain(kNever) would.
  virtual ~CopyEngine() = default;

  virtual Capabilities capabilities() const = 0;

  // Submits a piece without waiting. A piece may be kept back until the next poll(), so that several share
  // one system call. So submit what a batch of frames brings, then poll once.
  virtual Submission submit(const Piece& piece) = 0;

  // Starts pieces that were kept back and checks up to `budget` of the oldest ones. Returns by how many
  // tickets completed() grew. Does not wait. Call it regularly while anything is outstanding, even after the
  // engine became unavailable, because deadlines are noticed here.
  virtual std::uint32_t poll(std::uint32_t budget) = 0;

  // Polls until nothing is outstanding (true) or the deadline has passed (false). Spins briefly, then sleeps.
  // kNever is safe, as every engine gives up lost pieces itself. An owner that is about to sleep in the
  // kernel drains first, because no descriptor becomes readable when a piece is done.
  virtual bool drain(TimeNs deadline) = 0;

  // Returns whether the request of a completed ticket must fail although the bytes look right. The device
  // never reported completion (docs/spec/copy-offload.md 6), so it may still read the source and write the
  // destination. Our own memory on either side must not be used again in this process. The engine is
  // unavailable from then on, so at most `most_outstanding` pieces end like this. The answer for a ticket
  // never changes.
  virtual bool failed(Ticket) const { return false; }

  // Returns an empty text while submit() may accept pieces, else one sentence.
  virtual const char* disabled_reason() const { return ""; }

  // Return the newest ticket, and the one up to which all pieces are copied or failed(). Both change only in
  // the calls above, and only grow.
  Ticket submitted() const { return submitted_; }
  Ticket completed() const { return completed_; }
  std::uint32_t outstanding() const { return static_cast<std::uint32_t>(submitted_ - completed_); }

  // The reference stays valid, its values change with the calls above.
  virtual const Counters& counters() const { return counters_; }

 protected:
  Ticket submitted_ = 0;
  Ticket completed_ = 0;
  Counters counters_;
};

}  // namespace omx::copy
