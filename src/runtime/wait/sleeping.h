// SPDX-License-Identifier: BSD-3-Clause
// How a leader sleeps on the descriptors of its endpoint, and what it learns from the sleep: whether single
// frames may wake the next one.
//
// While an endpoint is idle, any frame ends the sleep. In a stream the data sockets stay out of the poll
// set. Then only a timer and the wake-up socket end the sleep, which passes frames with the solicited flag
// only (moderation.h).
//
//                 plan()            sleep()            event, frame, timer
//   idle polling ---------> planned ---------> asleep ---------------------> woken ---> learn()
//        ^                     |
//        +--- something waits -+
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "link/transport.h"
#include "local/hub.h"
#include "runtime/wait/locked_clock.h"
#include "runtime/wait/moderation.h"
#include "runtime/wait/park_slot.h"

namespace omx::runtime {

// The state of the endpoint when its leader is about to sleep.
struct SleepRequest {
  TimeNs until = 0;        // the endpoint's earliest deadline
  bool stopped = false;    // no frame is processed: disabled, or the handler runs
  bool unread = false;     // bulk paths may hold frames that no descriptor reports
  bool announced = false;  // frames by the UDP bulk path are announced
};

struct SleepPlan {
  TimeNs until = 0;
  Moderation::EventMask event_mask = Moderation::EventMask::frames;
  bool stopped = false;
  bool polls_link = false;
  bool udp_bulk = false;
  bool moderated = false;  // the moderation timer ends it
};

// How a sleep ended, and what the endpoint has to do about it.
struct SleepEnd {
  using WokenBy = Moderation::WokenBy;
  WokenBy by = WokenBy::other;
  bool interrupted = false;   // by a signal
  bool dismissed = false;     // another thread leads now and handles all of this
  bool hub = false;           // the intra-node hub asks for a turn
  bool hub_quiet = false;     // it does not
  bool bulk = false;          // frames wait in a bulk path
  bool bulk_quiet = false;    // none do
  bool link_failed = false;   // the link's descriptor reported an error
  bool rails_failed = false;  // the descriptor of another board reported an error
};

class Sleeping {
 public:
  Sleeping(LockedClock& time, const Moderation& moderation) : time_(time), moderation_(moderation) {}

  // Takes the link and the hub, once, before the first sleep. `hub` may be nullptr.
  void open(link::Transport& link, local::Hub* hub) {
    link_ = &link;
    hub_ = hub;
  }
  void rail_add(link::Transport& link) { rails_.push_back({&link}); }

  // Returns whether only solicited frames wake the next sleep.
  bool hears_solicited() const {
    return link_polled() && moderation_.event_mask() == Moderation::EventMask::solicited;
  }
  // Plans a sleep. Returns nullopt when frames wait already.
  std::optional<SleepPlan> plan(const SleepRequest& request);
  // Sleeps, with the lock released.
  SleepEnd sleep(ParkSlot& slot, const SleepPlan& plan);
  // Learns from the turn that follows a sleep. `frames`: frames came; `useful`: they ended the wait.
  void learn(bool frames, bool useful, std::uint64_t received, std::uint64_t messages);
  // Returns how many sleeps a solicited frame could not end.
  std::uint64_t deferred() const { return moderation_.deferred(); }

 private:
  // Another board of the endpoint.
  struct Source {
    link::Transport* link;
    TimeNs quiet_until = 0;  // its descriptor reported an error: not polled until this time
  };
  struct Waits;

  bool link_polled() const { return time_.now >= quiet_until_; }
  bool rails_pending() const;
  // Returns whether all descriptors of the transport itself end the sleep.
  static bool whole_link_wakes(const link::Transport& of, Moderation::EventMask event_mask);
  // Returns the descriptor to poll for frames; -1 for none.
  static int frames_descriptor(const link::Transport& of, Moderation::EventMask event_mask);
  // Opens the wake-up socket where the strategy uses it. Returns whether it is open.
  bool wakeup_open(const link::Transport& of) const;
  void listen(Waits& waits, const ParkSlot& slot, const SleepPlan& plan) const;
  void rails_listen(Waits& waits, Moderation::EventMask event_mask) const;
  int own_events(Waits& waits, SleepEnd& end);
  int rails_events(const Waits& waits, Moderation::EventMask event_mask, SleepEnd& end);

  LockedClock& time_;
  link::Transport* link_ = nullptr;
  local::Hub* hub_ = nullptr;
  std::vector<Source> rails_;
  Moderation moderation_;
  Moderation::WokenBy woken_by_ = Moderation::WokenBy::other;  // how the leader was woken last
  TimeNs quiet_until_ = 0;  // the link's descriptor reported an error: not polled until this time
};

}  // namespace omx::runtime
