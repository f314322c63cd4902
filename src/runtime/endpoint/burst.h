// SPDX-License-Identifier: BSD-3-Clause
// Short messages in a row to one peer, of which the later ones may share frames. burst_sends.h decides about
// each send.
#pragma once

#include "runtime/endpoint/endpoint_core.h"

namespace omx::runtime {

class Burst {
 public:
  explicit Burst(EndpointCore& core) : core_(core) {}

  // Counts a send to the peer that the caller names `to`. Returns whether enough sends to it came before, at
  // short intervals, that more are likely. Ends a burst to another peer.
  bool goes_on(std::uint64_t to);
  // Returns whether the link is due for a turn: a program that only sends must still see acknowledgements.
  bool turn_due() { return ++sends_since_turn_ >= kSendsPerTurn; }
  void turn_taken() { sends_since_turn_ = 0; }
  // Ends the burst, because the application does something else.
  void end() {
    sends_ = 0;
    if (core_.engine->held_any()) [[unlikely]]
      core_.engine->release(core_.now);
  }
  unsigned sends() const { return sends_; }
  void sends_are(unsigned sends) { sends_ = sends; }

 private:
  static constexpr unsigned kSendsPerTurn = 32;

  EndpointCore& core_;
  unsigned sends_ = 0;  // in a row
  std::uint64_t to_ = 0;
  TimeNs last_ = 0;  // time of the last of them
  unsigned sends_since_turn_ = 0;
};

}  // namespace omx::runtime
