// SPDX-License-Identifier: BSD-3-Clause
// What completion queues and counters share. Threads of the application wait for them, in a call or in
// poll().
// In a call, the thread drives the endpoint itself where there is just one. It spins for a while and then
// sleeps, as in any other wait of the runtime. Where there are several endpoints, and in poll(), the progress
// threads drive them. The descriptor is signalled only if a thread has armed it, not for each completion
// (docs/spec/libfabric.md 6.5).
#pragma once

#include <rdma/fi_eq.h>

#include <atomic>
#include <cstdint>

#include "base/wake_flag.h"
#include "libfabric/domain.h"
#include "libfabric/wait_event.h"
#include "protocol/types.h"

namespace omx::fabric {

// Returns the time at which a call with this timeout gives up (negative: never).
protocol::TimeNs deadline_of(int timeout_ms);

class Waitable {
 public:
  explicit Waitable(Domain& domain);
  virtual ~Waitable();
  Waitable(const Waitable&) = delete;
  Waitable& operator=(const Waitable&) = delete;

  Domain& domain() { return domain_; }
  // Takes the wait object that the application asked for. Returns 0, or a negative error code whose reason is
  // logged.
  int wait_object_set(fi_wait_obj object);
  // Answers fi_control: FI_GETWAIT and FI_GETWAITOBJ.
  int control(int command, void* argument) const;
  // Arms the descriptor, which becomes readable when something is there, and returns 0. -FI_EAGAIN: something
  // is there already.
  int arm();
  // Waits until something is there, wake() is called, or time is up (negative: never). Returns true after
  // wake(), and in a forked child, where nothing will ever come.
  bool wait(int timeout_ms);
  void wake();  // wakes one thread in wait(), or the next that comes

 protected:
  virtual bool something() const = 0;
  // Returns what something() does, ordered behind the arming of the flag. It finds all that was added by
  // threads that did not see the flag armed.
  virtual bool something_since_armed() { return something(); }
  // Signals the event if it is armed. Call it after something was added with release, or a stronger order.
  void added() {
    if (armed_.take()) [[unlikely]]
      event_.signal();
  }
  // Does what added() does at the cost of a load. The caller added the entry under a lock, which
  // something_since_armed() must take, or to a word that it must modify.
  void added_in_order() {
    if (armed_.take_of_ordered_news()) [[unlikely]]
      event_.signal();
  }

 private:
  static bool ready(void* self);
  int descriptors_give(fi_wait_pollfd& out) const;

  Domain& domain_;
  WaitEvent event_;
  fi_wait_obj object_ = FI_WAIT_NONE;
  bool has_descriptor_ = false;
  // A thread that is about to sleep in poll() arms the flag. The thread that has something for it takes the
  // flag and signals the event.
  WakeFlag armed_;
  // wake() sets it, and the thread that wakes clears it.
  std::atomic<bool> woken_{false};
};

}  // namespace omx::fabric
