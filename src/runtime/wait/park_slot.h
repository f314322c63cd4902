// SPDX-License-Identifier: BSD-3-Clause
// Where a leader sleeps. Waiting threads share one slot and the progress thread has its own, so that neither
// consumes the other's wake-up.
#pragma once

#include "base/own_fd.h"
#include "base/time.h"

namespace omx::runtime {

//            begin()             wake()
//   empty ------------> asleep ---------> woken
//     ^                   |                 |
//     +------ end() ------+------ end() ----+
//
// A thread that sleeps reads the event after its sleep (event_clear). If another thread calls end(), the
// sleeper is dismissed: it finds the slot empty and leaves the endpoint alone.
class ParkSlot {
 public:
  // Opens the eventfd. Returns false, with errno, if that fails.
  bool open();
  int descriptor() const { return event_.get(); }

  bool taken() const { return taken_; }
  // Returns when the sleep ends by itself.
  TimeNs until() const { return until_; }

  void begin(TimeNs until);
  // Ends the sleep. A second call does nothing.
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
