// SPDX-License-Identifier: BSD-3-Clause
// How long a wait spins before it sleeps: as long as spinning recently paid. A wait that may not spin gives
// its processor away between polls instead (yielding.h).
//
//              spin_failed() often                  next() now and then
//   spinning ----------------------> sleeping at once -----------------> one trial
//      ^                                                                    |
//      +-------------------------- spin_paid() -----------------------------+
#pragma once

#include "base/time.h"
#include "runtime/wait/yielding.h"

namespace omx::runtime {

// The budget of one endpoint. Guarded by the endpoint's lock.
class SpinBudget {
 public:
  // `most`: OMX_SPIN_US, in nanoseconds.
  explicit SpinBudget(TimeNs most) : most_(most), spin_(most), yielding_(most) {}

  TimeNs most() const { return most_; }
  // Returns how long the wait that begins may spin. If spinning was given up, a wait tries it now and then,
  // for as long as waits take.
  TimeNs next();
  // Returns how long the last wait may still spin once it slept.
  TimeNs present() const { return spin_; }
  // Returns how long the wait that begins may give its processor away.
  TimeNs next_yields() { return yielding_.next(); }

  // Records that a wait ended while it was spinning, after `time`.
  void spin_paid(TimeNs time);
  // Records that a wait slept after all, having spun for `spun`. What it waits for takes longer, or needs
  // this very processor.
  void spin_failed(TimeNs spun);
  // Records that a wait ended while its processor was given away. Spinning would have kept the processor
  // from the work that it waited for.
  void yields_paid(TimeNs spun, TimeNs time, TimeNs yielded);
  void yields_failed() { yielding_.failed(); }
  // Records how long a wait, or its sleep, took.
  void waited(TimeNs time) { waited_ = waited_ - waited_ / 8 + time / 8; }

  // Returns whether waits give their processor away between two polls now. If so, a message may be
  // acknowledged at the next poll.
  bool yields() const { return yields_; }
  void yields_are(bool yields) { yields_ = yields; }

 private:
  TimeNs most_;
  TimeNs spin_;  // for the next wait
  Yielding yielding_;
  bool yields_ = false;
  TimeNs waited_ = 0;        // how long waits last, smoothed
  unsigned waits_ = 0;       // that did not spin
  unsigned try_after_ = 64;  // this many of them
};

}  // namespace omx::runtime
