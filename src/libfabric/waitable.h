// SPDX-License-Identifier: BSD-3-Clause
// What completion queues and counters share: threads of the application wait for them, in a call or in
// poll().
//
// In a call, the thread drives the endpoint itself where there is just one, as in any other wait of the
// runtime: spinning for a while, then asleep. Where there are several, and in poll(), the progress threads
// drive them, and the descriptor is signalled if somebody has armed it: not for each completion
// (libfabric.md 6.5).
#pragma once

#include <rdma/fi_eq.h>

#include <atomic>
#include <cstdint>

#include "base/wake_flag.h"
#include "libfabric/domain.h"
#include "libfabric/wait_event.h"
#include "protocol/types.h"

namespace omx::fabric {

// The moment at which a call with this timeout gives up (negative: never).
protocol::TimeNs deadline_of(int timeout_ms);

class Waitable {
 public:
  explicit Waitable(Domain& domain);
  virtual ~Waitable();
  Waitable(const Waitable&) = delete;
  Waitable& operator=(const Waitable&) = delete;

  Domain& domain() { return domain_; }
  // 0, or the error for an application that asked for a wait object.
  int wait_object_set(fi_wait_obj object);
  // As fi_control: FI_GETWAIT and FI_GETWAITOBJ.
  int control(int command, void* argument) const;
  // -FI_EAGAIN: something is there already. Else the descriptor becomes readable when something is.
  int arm();
  // Until something is there, somebody signals, or time is up (negative: never). True: a signal, or a forked
  // child, where nothing will ever come.
  bool wait(int timeout_ms);
  void wake();  // one thread in wait(), now or the next

 protected:
  virtual bool something() const = 0;
  // Returns what something() does, ordered behind the arming of the flag. It finds all that was added by
  // threads that did not see the flag armed.
  virtual bool something_since_armed() { return something(); }
  // After something was added with release, or a stronger order.
  void added() {
    if (armed_.take()) [[unlikely]]
      event_.signal();
  }
  // Does what added() does at the cost of a load. something_since_armed() must take the lock under which the
  // entry was added, or modify the word that it was added to.
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
  // Armed by a thread that is about to sleep in poll(); taken by the thread that has something for it, which
  // signals the event.
  WakeFlag armed_;
  // Set by wake(); cleared by the thread that it woke.
  std::atomic<bool> woken_{false};
};

}  // namespace omx::fabric
