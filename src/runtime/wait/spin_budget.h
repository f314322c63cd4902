// SPDX-License-Identifier: BSD-3-Clause
// How long a wait spins before it sleeps: as long as that lately paid. A wait that may not spin gives its
// processor away between polls instead (yielding.h).
//
//              spin_failed() often                  next() now and then
//   spinning ----------------------> sleeping at once -----------------> one trial
//      ^                                                                    |
//      +-------------------------- spin_paid() -----------------------------+
#pragma once

#include "base/time.h"
#include "runtime/wait/yielding.h"

namespace omx::runtime {

// Of one endpoint. Guarded by its lock.
class SpinBudget {
 public:
  // `most`: OMX_SPIN_US, in nanoseconds.
  explicit SpinBudget(TimeNs most) : most_(most), spin_(most), yielding_(most) {}

  TimeNs most() const { return most_; }
  // How long the wait that begins may spin. A wait that gave spinning up tries now and then, for as long as
  // waits take.
  TimeNs next();
  // What the last wait may still spin once it slept.
  TimeNs present() const { return spin_; }
  // How long the wait that begins may give its processor away.
  TimeNs next_yields() { return yielding_.next(); }

  // A wait ended while it was spinning, after `time`.
  void spin_paid(TimeNs time);
  // It had to sleep after all: what it waits for takes longer, or needs this very processor. It spun for
  // `spun`.
  void spin_failed(TimeNs spun);
  // It ended while its processor was given away: to spin would have kept the processor from what it waits
  // for.
  void yields_paid(TimeNs spun, TimeNs time, TimeNs yielded);
  void yields_failed() { yielding_.failed(); }
  // A wait, or its sleep, took this long.
  void waited(TimeNs time) { waited_ = waited_ - waited_ / 8 + time / 8; }

  // Waits give their processor away between two polls now, so a message may be acknowledged at the next poll.
  bool yields() const { return yields_; }
  void yields_are(bool yields) { yields_ = yields; }

 private:
  TimeNs most_;
  TimeNs spin_;  // of the next wait
  Yielding yielding_;
  bool yields_ = false;
  TimeNs waited_ = 0;        // how long waits last, smoothed
  unsigned waits_ = 0;       // that did not spin
  unsigned try_after_ = 64;  // of them
};

}  // namespace omx::runtime
