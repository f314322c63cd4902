// SPDX-License-Identifier: BSD-3-Clause
// Where a leader sleeps. Waiting threads share one slot and the progress thread has its own, so that neither
// takes what the other is woken with.
#pragma once

#include "base/own_fd.h"
#include "base/time.h"

namespace omx::runtime {

//            begin()             wake()
//   empty ------------> asleep ---------> woken
//     ^                   |                 |
//     +------ end() ------+------ end() ----+
//
// A thread that sleeps reads the event after its sleep (event_clear). end() by another thread dismisses it:
// it finds the slot empty and leaves the endpoint alone.
class ParkSlot {
 public:
  // Returns false, with errno, when no eventfd can be had.
  bool open();
  int descriptor() const { return event_.get(); }

  bool taken() const { return taken_; }
  // When the sleep ends by itself.
  TimeNs until() const { return until_; }

  void begin(TimeNs until);
  // Ends the sleep. Does nothing the second time.
  void wake();
  void event_clear() const;
  void end() { taken_ = false; }

 private:
  OwnFd event_;  // eventfd that ends the sleep
  bool taken_ = false;
  bool woken_ = false;  // the event was written since the sleep began
  TimeNs until_ = 0;
};

}  // namespace omx::runtime
