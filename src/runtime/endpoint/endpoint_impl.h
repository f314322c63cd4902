// SPDX-License-Identifier: BSD-3-Clause
// Inside an open endpoint. Everything here is guarded by `lock` unless a comment says otherwise.
//   endpoint.cc           operations        endpoint_progress.cc  turns of the engine, once-per-second work
//   endpoint_wait.cc      waiting threads   endpoint_sleep.cc     their sleep
//   endpoint_helper.cc    progress thread   endpoint_close.cc     the end
//   endpoint_silence.cc   peers by UDP that do not answer
//   endpoint_news.cc      peers that fall silent, come back, are given up
//   endpoint_rails.cc     its other boards
#pragma once

#include <poll.h>

#include <atomic>
#include <optional>
#include <vector>

#include "base/fork_guard.h"
#include "base/list.h"
#include "base/own_fd.h"
#include "link/transport.h"
#include "runtime/board/binding.h"
#include "runtime/board/board_responder.h"
#include "runtime/board/closed_endpoints.h"
#include "runtime/clock.h"
#include "runtime/endpoint/bulk_placement.h"
#include "runtime/endpoint/copies.h"
#include "runtime/endpoint/counters_shared.h"
#include "runtime/endpoint/direct.h"
#include "runtime/endpoint/endpoint.h"
#include "runtime/endpoint/endpoint_lock.h"
#include "runtime/endpoint/rail.h"
#include "runtime/endpoint/router.h"
#include "runtime/wait/crowd.h"
#include "runtime/wait/moderation.h"
#include "runtime/wait/progress_thread.h"
#include "runtime/wait/steady_calls.h"
#include "runtime/wait/yielding.h"

namespace omx::runtime {

// What a thread waits for, and where it finds it.
struct Want {
  enum class Kind { request, any, peek, probe, ready, nothing };
  Kind kind = Kind::request;
  Request* request = nullptr;  // request: which; peek: the answer
  std::uint64_t match_info = 0, match_mask = 0;
  Completion* completion = nullptr;
  protocol::Arrival* arrival = nullptr;
  bool (*ready)(void*) = nullptr;
  void* context = nullptr;
};

// A thread inside wait_*, on its stack; and the progress thread.
struct Waiter {
  explicit Waiter(Want& w) : want(w) {}
  Want& want;
  Parker parker;
  ListHook hook;
};

// Where a leader sleeps: one for waiting threads, one for the progress thread, so that neither takes what the
// other is woken with.
struct Bed {
  OwnFd event;  // eventfd that ends the sleep
  bool taken = false;
  bool kicked = false;  // the event was written since it was taken
  TimeNs until = 0;
};

class Endpoint::Impl final : public link::FrameHandler, public link::BulkHandler, public local::Arrivals {
 public:
  Impl(const Board& board, std::uint8_t id, std::uint32_t slot, const Settings& settings)
      : board_(board),
        id_(id),
        slot_(slot),
        settings_(settings),
        moderation_(settings.moderation.of(id), TimeNs{settings.moderation_us} * 1000) {}
  ~Impl() override;

  // --- endpoint_close.cc: setting up, in this order ---
  Result<void> claim_take(Claim claim);
  Result<void> link_open(PeerTable& peers, const std::vector<Board>& boards);
  // `rail`: beside the endpoint's own, for its frames only.
  Result<std::unique_ptr<link::Transport>> frames_open(const Board& board, bool rail) const;
  Result<void> engine_start(const protocol::Config& config);

  // --- endpoint_progress.cc ---
  // One turn of the engine; true when frames came. Nothing happens inside the handler or while disabled.
  bool turn();
  // A turn for poll loops: reads the clock only when frames wait, and now and then for the deadlines.
  bool poll_turn() { return poll_turn(looks_are_calls_ ? 1 : kLooks); }
  bool poll_turn(unsigned looks) {
    burst_end();
    helper_notice();
    if (drowsy_) [[unlikely]]
      set_drowsy(false);
    yields_ = false;
    found_frames_ = poll_due(looks) && (now = clock.now(), turn());
    if (!found_frames_) copy_end();
    return found_frames_;
  }
  // A send need not wait for its acknowledgement any more. True when there was one that did.
  bool copy_end() {
    if (!engine->copy_owed()) return false;
    engine->copy_make(now);
    return true;
  }
  // Others run between two looks, so a message may be acknowledged when it is looked at next.
  bool yields() const { return yields_; }
  // After a poll: whether the caller should yield, without the lock. Not when it found what it looks for.
  bool yield_due(bool found) { return courtesy_.yield_due(found || found_frames_); }
  // Several looks for one lock and unlock: a frame is seen sooner.
  bool poll_due(unsigned looks) {
    if (looks_are_calls_ && engine->pulls_running()) return true;  // the turn looks
    for (unsigned look = 0; look < looks; look++) {
      if (link->pending() || (hub && hub->pending())) return true;
      if (!rails.empty() && rails_pending()) [[unlikely]]
        return true;
    }
    return engine->pulls_running() || (++idle_polls_ & kClockEvery) == 0;
  }
  // For calls that found what they look for without a turn: now and then one is due all the same.
  void found_turn() {
    if ((++found_ & (engine->held() ? kTurnEveryBurst : kTurnEvery)) != 0) return;
    now = clock.now();
    burst_turn();
  }
  // For a thread that only helps: does nothing when the endpoint is in use.
  void turn_if_free();
  void on_frame(wire::Frame frame) override;
  std::uint64_t frame_held() override { return copies ? copies->taken() : 0; }
  NicId lane_sender(const wire::LaneAddress& from) override { return engine->lane_sender(from); }
  bool lane_more() override { return lane_looks_ || engine->lane_wanted(now); }
  // Large messages come through the receive ring, not by lanes from which the kernel copies.
  bool by_ring() const {
    return (settings_.placement == Placement::ring && link->ring()) || (copies && copies->ring());
  }
  void placement_choose();
  std::size_t ring_turn();
  std::size_t lanes_turn();
  template <class Expect>
  std::size_t places_from(Expect expect, std::span<iovec> places);
  std::size_t bulk_places(std::span<iovec> places) override;
  std::size_t lane_places(std::span<iovec> places, std::size_t& header) override;
  bool bulk_in_place(std::size_t index, wire::Frame frame) override {
    return engine->is_expected(expected_[index], frame);
  }
  void on_bulk_placed(std::size_t index, wire::Frame frame) override {
    engine->on_placed(now, expected_[index], frame);
  }
  void on_bulk_frame(wire::Frame frame) override { on_frame(frame); }
  // --- endpoint_rails.cc: its other boards ---
  // Before engine_start. Boards that it cannot have are left out, aloud.
  void rails_open(std::vector<RailClaim> claims);
  // What the engine is told of them.
  void rails_fill(protocol::Config& config) const;
  bool rails_pending() const;
  std::size_t rails_receive(std::size_t budget);
  std::size_t rails_receive_bulk(std::size_t budget);
  void frame_by(unsigned rail, wire::Frame frame);
  std::size_t bulk_places_by(unsigned rail, std::span<iovec> places);
  void on_bulk_placed_by(unsigned rail, std::size_t index, wire::Frame frame);
  void rails_check();
  // Places of each: how many; and what happened there.
  static constexpr int kRailWaits = 3;
  nfds_t rails_listen(pollfd* waits, Moderation::Ears ears) const;
  int rails_woken(const pollfd* waits, Moderation::Ears ears);
  std::uint64_t frames_received() const;
  std::uint32_t rails_mtu() const;  // of all boards
  // --- endpoint_silence.cc: peers by UDP that do not answer ---
  void on_refused(wire::Frame frame) override;
  std::string silence_advice(NicId nic) const;
  std::string silence_reason(const protocol::PartnerInfo& peer) const;
  // After connects may have ended.
  void silence_found();
  // The first time that a bound keeps messages waiting: once for each kind, in a process.
  void held_up_found();
  // --- endpoint_local.cc: the other endpoints of this host ---
  Result<void> local_open(const std::vector<Board>& boards);
  std::size_t local_turn();
  void shortages_check();
  // When the hub wants a turn of which nobody tells.
  TimeNs local_deadline() const;
  void on_local_frame(wire::Frame frame) override { on_frame(frame); }
  void on_local_gone(const local::Place& peer) override;
  void on_local_refused(wire::Frame frame) override;
  void disable();
  void reenable();
  void handler_set(const UnexpectedHandler& handler);
  // Whether some thread runs the handler (it does not hold the lock); whether this one does. Without the
  // lock.
  bool in_handler() const { return handler_thread_.load(std::memory_order_relaxed) != 0; }
  bool in_own_handler() const {
    return handler_thread_.load(std::memory_order_relaxed) == EndpointLock::current_thread();
  }
  // Until no other thread runs the handler; the lock is released meanwhile.
  void handler_wait();

  // --- endpoint_news.cc: what happens to peers ---
  // "host h2 (02:...), endpoint 3"
  std::string peer_text(NicId nic, std::uint8_t endpoint) const;
  // After frames or timers: tells people and the sink.
  void news_tell();

  // After engine calls: the sink is told of completions, if there is one.
  void sink_run() {
    while (sink && sink_seen_ != engine->completion_count()) {
      sink_seen_ = engine->completion_count();
      if (engine->news()) [[unlikely]]
        news_tell();  // what is sent once the failed operations are reported must fail as well
      sink->completed(*engine, now);
    }
  }

  // --- endpoint_wait.cc ---
  WaitOutcome wait(Want& want, std::uint64_t timeout_ms);
  bool take(Want& want);
  void wake_all();
  // After an operation: wakes the threads that it concerns. Costs one comparison when none waits.
  void wake_others(const Waiter* self = nullptr) {
    if (leader_ || !waiters_.empty()) wake_concerned(self);
  }

  // --- endpoint_helper.cc: the progress thread ---
  void helper_start();
  // For good; lock not held. Any thread, more than once.
  void helper_stop();
  // Nobody of the application will look after the endpoint now. False: there is no progress thread.
  bool helper_invite();
  // The application polls.
  void helper_notice() {
    if (leader_ == &helper_) [[unlikely]]
      helper_beside();
  }
  // Counts operations: the progress thread sees whether the application calls.
  void used() { uses_++; }

  // --- endpoint_burst.cc: short messages that share frames ---
  // For each send: whether more are likely to follow at once, so that it may wait for them.
  bool burst_goes_on();
  // Whether somebody looks after what waits when the application does not.
  bool may_hold() { return helper_runs_ && !disabled_ && !in_handler() && !asleep(); }
  // After it: looks after what may be waiting, and now and then at the link: a program that only sends still
  // has to see acknowledgements.
  void sent() {
    if (engine->held()) [[unlikely]]
      burst_held();
    if (++sends_since_turn_ >= kSendsPerTurn) burst_turn();
  }
  // The application does something else.
  void burst_end() {
    burst_ = 0;
    if (engine->held()) [[unlikely]]
      engine->release(now);
  }
  // A turn between two sends of a burst.
  void burst_turn();
  void burst_held();

  // --- endpoint_close.cc ---
  // Sends waiters home and waits until nobody is inside any more. Lock not held.
  void close_begin();
  // Drives the engine for a moment (at most `patience`); true when nothing is left to be acknowledged.
  bool close_drive(TimeNs patience);
  void close_end();

  // A thread of another part of the process is about to use the endpoint without owning it; close_begin waits
  // for it.
  void pin() { pins_.fetch_add(1, std::memory_order_acq_rel); }
  void unpin() { pins_.fetch_sub(1, std::memory_order_acq_rel); }

  // The address's partner, or nullptr when it is not an address of this endpoint.
  protocol::Partner* partner_of(const AddressParts& parts);
  const Settings& settings() const { return settings_; }
  // This process is a forked child of the one that opened the endpoint.
  bool foreign() const { return mark_.forked(); }

  EndpointLock lock;
  RecentClock clock;
  TimeNs now = 0;  // of the operation or turn that runs; never goes back
  std::unique_ptr<CounterSegment> segment;
  std::unique_ptr<link::Transport> link;
  std::vector<std::unique_ptr<Rail>> rails;  // its other boards; usually none
  std::unique_ptr<local::Hub> hub;           // nullptr: switched off
  std::unique_ptr<Router> out;               // what the engine sends through
  std::unique_ptr<Copies> copies;            // usually nobody
  std::unique_ptr<protocol::Endpoint> engine;
  std::shared_ptr<Seat> seat;  // of the thread that opened it
  CompletionSink* sink = nullptr;
  std::uint64_t signals = 0;  // see Direct::signal

 private:
  static protocol::HandlerAction handler_entry(void* context, const protocol::Arrival& arrival);
  void frame_dispatch(wire::Frame frame);
  bool refused(wire::Frame frame);
  std::size_t deferred_process();
  void check();
  void check_link();
  // --- endpoint_interface.cc
  std::string board_follow(link::Transport& its_link, Board& board, Claim& claim);
  std::string own_board_follow();
  bool hub_listen();
  std::string outage_tell(const link::Transport& its_link, bool up, const Board& board,
                          const std::string& obstacle) const;
  // What others count, to where other processes read it.
  void counters_publish() {
    segment->counters().link = link->counters();
    if (!rails.empty()) rails_publish();
    if (hub) segment->counters().local = hub->counters();
  }
  void rails_publish();
  // What it has in its hands, to the same place; see SharedView.
  void view_publish();
  bool view_old() const { return activity() != view_seen_; }
  std::uint64_t activity() const;  // changes whenever something happens
  void log_partners();
  void modes_tell();
  // endpoint_summary.cc: `last` when the endpoint is being closed.
  void summary_check(bool last);
  std::string summary(std::size_t peers) const;
  void silence_check();
  void trains_tell(const protocol::PartnerInfo& peer);
  void ended_tell(const protocol::PeerNews& news);
  void names_ask();
  void silence_tell(const protocol::PartnerInfo& peer);

  bool satisfied(const Want& want);
  void wake_concerned(const Waiter* self);
  void kick();
  WaitOutcome lead(Waiter& self, TimeNs deadline, std::uint64_t generation);
  void leave(Waiter& self);
  std::optional<WaitOutcome> follow(Waiter& self, TimeNs deadline, std::uint64_t generation);
  // --- endpoint_sleep.cc ---
  bool sleep(TimeNs deadline);
  void spin_paid(TimeNs waited);
  void yields_paid(TimeNs spun, TimeNs time, TimeNs yielded);
  void spin_failed(TimeNs spun);
  void waited(TimeNs time) { waited_ = waited_ - waited_ / 8 + time / 8; }
  TimeNs spin_next();
  void set_drowsy(bool drowsy);
  // What to poll for frames; -1: nothing.
  int frames_descriptor(const link::Transport& of, Moderation::Ears ears) const;
  // After the turn that follows a sleep: whether frames came, and ended the wait.
  void moderation_learn(bool frames, bool useful);
  Bed& bed() { return leader_ == &helper_ ? helper_bed_ : bed_; }
  bool asleep() { return leader_ && bed().taken; }

  void helper_main();
  void helper_hasten();
  void helper_release();
  bool helper_watch(TimeNs last_call);
  void helper_look_away(TimeNs until);
  void helper_lead();
  void helper_beside();
  void helper_dismiss();
  bool dismissed(std::uint64_t generation) const { return closing_ || wake_generation_ != generation; }

  Board board_;
  std::uint8_t id_;
  std::uint32_t slot_;
  const Settings& settings_;
  ForkMark mark_;
  Claim claim_;
  Claim listened_;  // of a former index: the hub listens there until it can listen to claim_
  std::optional<BoardResponder> responder_;
  std::optional<ClosedEndpoints> closed_;

  UnexpectedHandler handler_;
  std::atomic<std::uintptr_t> handler_thread_{0};  // who runs it; written with the lock held
  std::atomic<std::uint32_t> handler_ends_{0};     // how often it returned: a futex for those who wait
  unsigned handler_waiters_ = 0;
  bool disabled_ = false;
  // Frames of the batch in which the handler disabled progression, with their rail.
  std::vector<std::pair<unsigned, std::vector<std::byte>>> deferred_;

  // A look at the clock costs as much as ten at the ring.
  static constexpr unsigned kClockEvery = 15, kTurnEvery = 7, kTurnEveryBurst = 31;  // masks
  static constexpr unsigned kLooks = 8;
  bool looks_are_calls_ = false;  // system calls: one a poll, as its caller has other things to do
  unsigned idle_polls_ = 0;
  bool found_frames_ = false;  // the last poll
  PollCourtesy courtesy_;
  unsigned found_ = 0;
  TimeNs next_check_ = 0;
  std::uint64_t view_seen_ = 0;  // the activity when it was published
  TimeNs next_tick_ = 0;         // of the hub
  TimeNs backlog_pause_ = 0;
  // A peer of this host to which there is no way for want of descriptors or memory.
  struct Shortage {
    local::Place to;
    TimeNs lasted = 0;
    TimeNs seen = 0;  // the last look
  };
  std::vector<Shortage> shortages_;
  unsigned behind_ = 0;  // turns in a row that left frames unread
  TimeNs lanes_looked_ = 0;
  // They had frames a moment ago that nobody spoke of, so more are likely.
  TimeNs lane_busy_until_ = 0, bulk_busy_until_ = 0;
  BulkPlacement placement_;
  bool lanes_late_ = false;  // both are to be read, though no large message is on its way
  bool lane_looks_ = false;  // whether or not anything is known to be there
  bool link_up_ = true;
  link::Outage outage_ = link::Outage::none;  // that was told
  // Where endpoints of this host are claimed, by their NIC. Those of a board that came back with another
  // index move there one by one.
  struct LocalPlace {
    NicId nic = 0;
    std::uint32_t ifindex = 0, former = 0;
  };
  std::vector<LocalPlace> local_places_;
  std::array<protocol::ExpectedFrame, 64> expected_;             // of the batch that is being received
  std::vector<std::pair<std::uint32_t, std::uint32_t>> logged_;  // by partner: agreed and proven frame
  std::vector<NicId> silent_;                                    // of which was warned
  std::size_t summary_peers_ = 0;                                // at the last check
  bool summarized_ = false;
  PeerTable* names_ = nullptr;     // of hosts
  std::uint32_t names_asked_ = 0;  // partners so far, in this round
  unsigned names_rounds_ = 0;

  // Waiting. The first in the list leads next when the leader leaves.
  List<Waiter, &Waiter::hook> waiters_;
  Waiter* leader_ = nullptr;  // one of them, or the progress thread
  Bed bed_;
  TimeNs spin_ = 0;          // of the next wait: as long as it lately paid
  Yielding yielding_{0};     // of waits that may not spin
  bool yields_ = false;      // lately who waited gave its processor away between looks
  TimeNs waited_ = 0;        // how long waits last, smoothed
  unsigned waits_ = 0;       // that did not spin
  unsigned try_after_ = 64;  // of them
  bool drowsy_ = false;      // the engine knows that we sleep between frames
  Moderation moderation_;
  Moderation::WokenBy woken_by_ = Moderation::WokenBy::other;  // the leader, last
  TimeNs link_quiet_until_ = 0;  // the link's descriptor reported an error: not polled until then
  std::uint64_t wake_generation_ = 0;
  std::uint64_t sink_seen_ = 0;    // completions
  std::uint64_t events_seen_ = 0;  // completions and arrivals that waiters were told of
  bool closing_ = false;

  // The progress thread.
  ProgressThread thread_;
  Want nothing_{.kind = Want::Kind::nothing};
  Waiter helper_{nothing_};
  Bed helper_bed_;
  bool helper_runs_ = false;                 // and will look
  std::atomic<bool> helper_invited_{false};  // leads at the next look; written with the lock held
  bool helper_rests_ = false;                // until a waiting thread leaves
  std::uint64_t uses_ = 0;                   // operations of the application
  std::uint64_t uses_seen_ = 0;              // by the progress thread
  SteadyCalls steady_;
  std::uint64_t sleep_seen_ = 0;  // by it: how many had ended
  unsigned polls_beside_helper_ = 0;
  std::atomic<bool> helper_stops_{false};
  std::atomic<bool> hastened_{false};  // it looks for held messages often
  unsigned hasty_looks_ = 0;           // that found none
  static constexpr unsigned kSendsPerTurn = 32;
  unsigned sends_since_turn_ = 0;
  unsigned burst_ = 0;       // sends in a row
  TimeNs burst_last_ = 0;    // the last of them
  TimeNs watch_ = 0;         // how long it looks away
  TimeNs away_ = 0;          // first of all when it was sent away
  bool sent_away_ = false;   // and has not looked away since
  TimeNs helper_since_ = 0;  // it leads

  std::atomic<unsigned> pins_{0};
  Parker* closer_ = nullptr;  // unparked when the last waiter has left
};

// An operation: the lock, and one look at the clock.
class Operation {
 public:
  // `timed` false: the operation needs no time, or reads the clock itself.
  explicit Operation(Endpoint::Impl& impl, bool timed = true) : impl_(impl) {
    impl_.lock.lock();
    impl_.used();
    if (timed) time();
  }
  void time() {
    if (impl_.lock.depth() == 1) impl_.now = impl_.clock.now();
  }
  ~Operation() {
    if (impl_.lock.depth() == 1) impl_.wake_others();
    impl_.lock.unlock();
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

 private:
  Endpoint::Impl& impl_;
};

}  // namespace omx::runtime
