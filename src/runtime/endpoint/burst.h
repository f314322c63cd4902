// SPDX-License-Identifier: BSD-3-Clause
// Short messages in a row, of which the later ones may share frames. What is decided for each send is in
// burst_sends.h.
#pragma once

#include "runtime/endpoint/endpoint_core.h"

namespace omx::runtime {

class Burst {
 public:
  explicit Burst(EndpointCore& core) : core_(core) {}

  // A send. Returns whether so many came before it at short intervals that more are likely.
  bool goes_on();
  // Returns whether the link is due: a program that only sends still has to see acknowledgements.
  bool turn_due() { return ++sends_since_turn_ >= kSendsPerTurn; }
  void turn_taken() { sends_since_turn_ = 0; }
  // The application does something else.
  void end() {
    sends_ = 0;
    if (core_.engine->held()) [[unlikely]]
      core_.engine->release(core_.now);
  }
  unsigned sends() const { return sends_; }
  void sends_are(unsigned sends) { sends_ = sends; }

 private:
  static constexpr unsigned kSendsPerTurn = 32;

  EndpointCore& core_;
  unsigned sends_ = 0;  // in a row
  TimeNs last_ = 0;     // the last of them
  unsigned sends_since_turn_ = 0;
};

}  // namespace omx::runtime
