// SPDX-License-Identifier: BSD-3-Clause
// What may end the sleep of a thread that waits for frames: wake-ups are to come with messages, not with
// frames (docs/explanation/waiting.md). The strategies are those of interrupt coalescing in a NIC that knows
// messages (paper "Finding a Tradeoff between Host Interrupt Load and MPI Latency over Ethernet"); the
// interrupt is the wake-up of a thread here.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "config/strategy.h"

namespace omx::runtime {

// Of one endpoint. Not thread-safe.
class Moderation {
 public:
  // What a sleeper hears; the timer beside the last two.
  enum class EventMask : std::uint8_t { frames, solicited, masked };
  // `lane`: by what was announced before, whose solicited frame woke already.
  enum class WokenBy : std::uint8_t { other, frame, solicited, lane, timer };
  // After a sleep, and the look that followed.
  struct Found {
    WokenBy by = WokenBy::other;
    bool frames = false;         // there were some
    bool useful = false;         // they ended the wait
    std::uint64_t received = 0;  // frames since the endpoint opened
    std::uint64_t messages = 0;  // received since then
    TimeNs now = 0;
  };

  // `period`: so long a stream may pass unheard at most, in ns.
  Moderation(Strategy strategy, TimeNs period) : strategy_(strategy), period_(period) {}

  EventMask event_mask() const { return event_mask_; }
  // When the timer ends a sleep that begins now; kNever: no timer.
  TimeNs look_at(TimeNs now) const;
  // Whether solicited frames will be listened for: what hears them must be open before learn().
  bool wants_solicited(const Found& found) const;
  // `solicited`: a wake-up socket is open for solicited frames.
  void learn(const Found& found, bool solicited);
  // Sleeps that did not even listen for solicited frames, as more followed.
  std::uint64_t deferred() const { return deferred_; }

 private:
  void learn_solicited(const Found& found, bool solicited);
  void defer(const Found& found);

  Strategy strategy_;
  TimeNs period_;
  EventMask event_mask_ = EventMask::frames;
  unsigned solicited_ = 0;      // wake-ups by one, of some ...
  std::uint64_t received_ = 0;  // ... since so many frames had come
  std::uint64_t messages_ = 0;  // received when a solicited frame woke last ...
  TimeNs woken_ = 0;            // ... which was then
  TimeNs deferred_until_ = 0;
  std::uint64_t deferred_ = 0;
};

}  // namespace omx::runtime
