// SPDX-License-Identifier: BSD-3-Clause
// Bounds what a sender has on its way to one peer unasked, once the path has lost or marked some of it
// (docs/explanation/congestion.md). A path that loses nothing has no such window, and costs nothing, except
// during the first bursts of a conversation.
#pragma once

#include <array>
#include <cstdint>

#include "protocol/state/congestion_window.h"
#include "protocol/state/loss_share.h"
#include "protocol/types.h"

namespace omx::protocol {

struct Peer;
struct Request;
struct State;

// first trial: before a path has carried much at once, a small window that doubles. It ends when all has
//      |       arrived, and a longer burst begins the next one with what was reached
//      | a loss
//      v
// begun by the first loss:  long messages wait for their receiver
//      |      ^
//      | calm | a loss; the next calm lasts twice as long
//      v      |
//   trial: all messages leave unasked, within a small window that doubles
//      |
//      v
// ended, after kTrialBytes without a loss
struct EagerWindow {
  explicit EagerWindow(std::uint32_t bytes) : window(bytes) {}

  CongestionWindow window;
  std::uint32_t in_flight = 0;  // bytes
  std::uint32_t most = 0;       // that were in flight at once
  std::uint32_t unasked = 0;    // bytes sent since an acknowledgement was asked for
  std::uint64_t sent = 0;       // bytes since the window began; the position of the next message
  std::uint64_t acked = 0;      // position of the newest message that was acknowledged
  // The shortest time to an acknowledgement that was asked for, and when that last grew older.
  TimeNs least = kNever, least_aged = 0;
  std::array<TimeNs, 4> last{};  // the last such times
  std::uint8_t samples = 0;
  std::uint8_t spreads = 0;  // doublings of the time in which the fragments of a repetition had to leave
  TimeNs calm_since = 0;     // when something was lost last
  LossShare<7> loss;
  std::uint64_t trial_at = 0;  // value of `sent` when the trial began
  bool heavy = false;          // so much was lost that no message but a very short one leaves unasked
  bool trial = false;          // nothing was lost for long, so long messages leave unasked again
};

// Begins the first trial if more than this path is known to carry would be on its way with one more message.
void eager_try(State& s, Peer& p, const Request& r);
bool eager_first_trial(const Peer& p);
// Returns whether so much is lost that a queue on the path overflows.
bool eager_overflows(const Peer& p);
// Returns whether the window has room for one more message. A lone message always leaves.
bool eager_room(const Peer& p, const Request& r);
// Returns whether a medium message must wait until its receiver asks for it. It must where it is longer than
// the window, and where it has so many frames that one of them would be lost too often, and all of them sent
// again. It also must while the receiver has not said that no other peer sends to it (docs/reference/wire.md
// 17).
bool eager_defers(const Peer& p, const Request& r);
// Notes that a message leaves, and whether it asks for its acknowledgement.
void eager_left(Peer& p, Request& r);
// Notes that a message was acknowledged. `measures`: the acknowledgement answers this message.
void eager_acked(State& s, Peer& p, const Request& r, bool measures);
// Notes that a message was lost. The first loss begins the window.
void eager_lost(State& s, Peer& p, Request& r);
// Notes that the peer's queue marked frames (ECN). Marks count as losses do, once for each window.
void eager_marked(State& s, Peer& p);
// Forgets the window.
void eager_end(State& s, Peer& p);

}  // namespace omx::protocol
