// SPDX-License-Identifier: BSD-3-Clause
// What may end the sleep of a thread that waits for frames. Wake-ups shall come with messages, not with
// frames (docs/explanation/waiting.md). The strategies are those of interrupt coalescing in a NIC that knows
// messages (paper "Finding a Tradeoff between Host Interrupt Load and MPI Latency over Ethernet"). Here the
// wake-up of a thread takes the place of the interrupt.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "config/strategy.h"

namespace omx::runtime {

// Moderates the sleeps of one endpoint. Not thread-safe.
class Moderation {
 public:
  // Which frames wake a sleeper. For the last two a timer does so, too.
  enum class EventMask : std::uint8_t { frames, solicited, masked };
  // `announced`: woken by frames that an earlier solicited frame announced.
  enum class WokenBy : std::uint8_t { other, frame, solicited, announced, timer };
  // The result of a sleep and of the turn after it.
  struct Found {
    WokenBy by = WokenBy::other;
    bool frames = false;         // there were frames
    bool useful = false;         // they ended the wait
    std::uint64_t received = 0;  // frames since the endpoint opened
    std::uint64_t messages = 0;  // received since then
    TimeNs now = 0;
  };

  // `period`: how long a stream may be left unread at most, in ns.
  Moderation(Strategy strategy, TimeNs period) : strategy_(strategy), period_(period) {}

  EventMask event_mask() const { return event_mask_; }
  // Returns whether the strategy leaves out a bulk path where every frame of the link wakes. That spares
  // wake-ups but hardly any processor time, and costs latency (docs/explanation/waiting.md), so only a user
  // chooses it.
  bool masks_bulk_alone() const { return strategy_ != Strategy::adaptive; }
  // Returns when the timer ends a sleep that begins now; kNever without a timer.
  TimeNs look_at(TimeNs now) const;
  // Returns whether the next sleep listens for solicited frames. The wake-up socket must then be open before
  // learn().
  bool wants_solicited(const Found& found) const;
  // Chooses the next event mask. `solicited`: a wake-up socket is open for solicited frames.
  void learn(const Found& found, bool solicited);
  // Returns how many sleeps did not even listen for solicited frames, since more messages were to follow.
  std::uint64_t deferred() const { return deferred_; }

 private:
  void learn_solicited(const Found& found, bool solicited);
  void defer(const Found& found);

  Strategy strategy_;
  TimeNs period_;
  EventMask event_mask_ = EventMask::frames;
  unsigned solicited_ = 0;      // wake-ups by a solicited frame since `received_` was set
  std::uint64_t received_ = 0;  // frames received when that count began
  std::uint64_t messages_ = 0;  // messages received at the last wake-up by a solicited frame
  TimeNs woken_ = 0;            // when that wake-up was
  TimeNs deferred_until_ = 0;
  std::uint64_t deferred_ = 0;
};

}  // namespace omx::runtime
