// SPDX-License-Identifier: BSD-3-Clause
// How a leader sleeps, and what it learns from it: how long the next wait spins, and whether single frames
// may wake it.
//
// While an endpoint is idle, any frame ends the sleep. In a stream the data sockets stay out of the poll set,
// and only the bell (frames that their sender marked as urgent) and a timer end it: moderation.h.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/no_cancel.h"
#include "runtime/endpoint/endpoint_impl.h"

namespace omx::runtime {

namespace {

// After the link's descriptor reported an error, so that a lasting one costs no processor time.
constexpr TimeNs kErrorPause = 100 * protocol::kMillisecond;
// A spin shorter than this catches nothing.
constexpr TimeNs kSpinLeast = 4'000;
constexpr unsigned kTryLeast = 64, kTryMost = 4096;  // waits

void event_clear(int event) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t size = ::read(event, &count, sizeof count);
}

}  // namespace

void Endpoint::Impl::kick() {
  Bed& b = bed();
  if (b.kicked) return;
  b.kicked = true;
  const NoCancel no_cancel;
  const std::uint64_t one = 1;
  // Cannot fail: the counter is far from full.
  [[maybe_unused]] const ssize_t written = ::write(b.event.get(), &one, sizeof one);
}

// A wait ended while it was spinning.
void Endpoint::Impl::spin_paid(TimeNs time) {
  const TimeNs most = TimeNs{settings_.spin_us} * 1000;
  waited(time);
  yields_ = false;
  set_drowsy(false);
  try_after_ = kTryLeast;
  spin_ = std::min(std::max({2 * spin_, 4 * time, kSpinLeast}), most);
}

// It had to sleep after all: whoever it waits for takes longer, or needs this very processor.
void Endpoint::Impl::spin_failed(TimeNs spun) {
  if (spin_ == 0 && spun > 0) try_after_ = std::min(2 * try_after_, kTryMost);
  spin_ = spin_ / 2 >= kSpinLeast ? spin_ / 2 : 0;
}

// It ended while the processor was given away: to spin would have kept it from whom it waits for.
void Endpoint::Impl::yields_paid(TimeNs spun, TimeNs time, TimeNs yielded) {
  waited(time);
  set_drowsy(false);
  spin_failed(spun);
  yielding_.paid(yielded);
}

// How long the wait that begins may spin. Who gave it up tries now and then, for as long as waits take.
TimeNs Endpoint::Impl::spin_next() {
  if (spin_ > 0 || ++waits_ < try_after_) return spin_;
  waits_ = 0;
  const TimeNs most = TimeNs{settings_.spin_us} * 1000;
  return waited_ <= most ? std::min(2 * waited_ + kSpinLeast, most) : 0;
}

void Endpoint::Impl::set_drowsy(bool drowsy) {
  if (drowsy == drowsy_) return;
  drowsy_ = drowsy;
  engine->set_drowsy(now, drowsy);
  out->flush();
}

void Endpoint::Impl::moderation_learn(bool frames, bool useful) {
  const Moderation::Found found{woken_by_,
                                frames,
                                useful,
                                frames_received(),
                                segment->counters().engine[protocol::Counter::messages_received],
                                now};
  bool bells = moderation_.wants_marks(found) && link->wakeup() && link->wakeup()->open();
  for (const auto& rail : rails) bells = bells && rail->link->wakeup() && rail->link->wakeup()->open();
  moderation_.learn(found, bells);
  segment->counters().deferred = moderation_.deferred();
  woken_by_ = Moderation::WokenBy::other;
}

int Endpoint::Impl::frames_descriptor(const link::Transport& of, Moderation::Ears ears) const {
  if (ears == Moderation::Ears::none) return -1;
  return ears == Moderation::Ears::marks ? descriptor_of(of.wakeup()) : of.descriptor();
}

// Sleeps as the leader, lock released. False when a signal ended it.
bool Endpoint::Impl::sleep(TimeNs deadline) {
  if (copies && copies->outstanding()) {
    // No descriptor tells when they are over.
    copies->wait(deadline);
    lock.unlock();
    lock.give_way();
    lock.lock();
    now = clock.read();
    return true;
  }
  // While another thread runs the handler nothing can move either; its end wakes us.
  const bool stopped = disabled_ || in_handler();
  const bool polls_link = !stopped && now >= link_quiet_until_;
  TimeNs until = deadline;
  if (!stopped) until = std::min(until, engine->next_deadline());
  if (!stopped && !polls_link) until = std::min(until, link_quiet_until_);
  if (!stopped) until = std::min(until, local_deadline());
  if (!stopped && view_old()) until = std::min(until, next_check_);
  link::Datagram* const datagram = link->datagram();
  using Ears = Moderation::Ears;
  const Ears ears = polls_link ? moderation_.ears() : Ears::frames;
  const bool lane = ears == Ears::frames || (ears == Ears::marks && engine->lane_awaited(now));
  const TimeNs look = polls_link ? moderation_.look_at(now) : protocol::kNever;
  const bool moderated = look < until;
  if (moderated) until = look;
  // No mark comes again for what lies there already, and no descriptor tells of what a look has taken.
  const bool unread =
      polls_link && ((datagram && datagram->holds()) ||
                     (ears != Ears::frames && (link->pending() || lanes_late_ || rails_pending())));
  // While it is stopped nobody would read, so nobody need wake us.
  if (until <= now || unread || (hub && !stopped && !hub->fall_asleep())) {
    // What never ends must not stop the clock, nor keep the lock from others.
    lock.unlock();
    lock.give_way();
    lock.lock();
    now = clock.read();
    return true;
  }

  SharedCounters& counters = segment->counters();
  counters_publish();  // nobody may do so for long
  Bed& b = bed();
  b.taken = true;
  b.kicked = false;
  b.until = until;
  enum {
    kEvent,
    kLocal,
    kFrames,
    kBulk,
    kLane,
    kStrangers,
    kFavourite,
    kRails,
    kWaits = kRails + kRailWaits * (wire::kRailsMost - 1)
  };
  pollfd waits[kWaits] = {
      {b.event.get(), POLLIN, 0},
      {stopped || !hub ? -1 : hub->descriptor(), POLLIN, 0},
      {frames_descriptor(*link, ears), POLLIN, 0},
      {ears == Ears::frames ? descriptor_of(link->bulk_path()) : -1, POLLIN, 0},
      {lane ? descriptor_of(link->udp_bulk_path()) : -1, POLLIN, 0},
      {datagram ? datagram->unknown_peers_descriptor() : -1, POLLIN, 0},
      {datagram && ears == Ears::frames ? datagram->fast_path_descriptor() : -1, POLLIN, 0}};
  nfds_t count = polls_link ? kRails : kFrames;
  if (!rails.empty() && !stopped) [[unlikely]] {
    // They are listened to while the endpoint's own board is in trouble, too.
    for (int i = kFrames; i < kRails && !polls_link; i++) waits[i].fd = -1;
    count = kRails + rails_listen(waits + kRails, ears);
  }
  const timespec limit = timespec_of(until - now);
  lock.unlock();
  const int result = ::ppoll(waits, count, until == protocol::kNever ? nullptr : &limit, nullptr);
  const bool interrupted = result < 0 && errno == EINTR;
  lock.lock();
  now = clock.read();
  counters.wakeups++;
  if (result > 0 && (waits[kEvent].revents & POLLIN)) event_clear(b.event.get());
  // Dismissed: what follows is the business of whoever leads now.
  if (!b.taken) return true;
  b.taken = false;

  if (hub && !stopped) {
    hub->wake_up();
    if (waits[kLocal].revents) next_tick_ = 0;
  }
  // Another thread may have closed it since we let go of the lock (placement_choose): no fault of the link.
  if (waits[kBulk].fd != descriptor_of(link->bulk_path())) waits[kBulk].revents = 0;
  // Late frames of a message that is complete wait there, too.
  if ((waits[kBulk].revents | waits[kLane].revents) & POLLIN) lanes_late_ = true;
  if (datagram && result > 0) {
    if (waits[kStrangers].revents) datagram->unknown_peers_poll();
    if (waits[kFavourite].revents) datagram->fast_path_poll();
    if (waits[kFrames].revents) datagram->main_poll();
  }
  if (datagram && result > 0 && ((waits[kFrames].revents | waits[kFavourite].revents) & POLLERR) &&
      datagram->errors_are_news()) {
    for (const auto which : {kFrames, kFavourite})
      waits[which].revents = static_cast<short>(waits[which].revents & ~POLLERR);
  }
  const int rail_events = result > 0 && count > kRails ? rails_woken(waits + kRails, ears) : 0;
  const int own_events = result > 0 ? waits[kFrames].revents | waits[kBulk].revents | waits[kLane].revents |
                                          waits[kFavourite].revents
                                    : 0;
  const int link_events = own_events | rail_events;
  using WokenBy = Moderation::WokenBy;
  woken_by_ = WokenBy::other;
  if (link_events & (POLLERR | POLLHUP | POLLNVAL)) {
    // The interface went down or away. Its state is read, and its descriptor left alone for a while.
    check_link();
    link_quiet_until_ = now + kErrorPause;
  } else if (link_events && ears == Ears::marks) {
    if (own_events) link->wakeup()->clear();
    const bool marked = waits[kFrames].revents || rail_events;
    woken_by_ = marked ? WokenBy::mark : WokenBy::lane;
    (marked ? counters.wakeups_bell : counters.wakeups_lane)++;
  } else if (link_events) {
    woken_by_ = WokenBy::frame;
    counters.wakeups_frame++;
  } else if (result == 0 && moderated) {
    woken_by_ = WokenBy::timer;
    counters.wakeups_moderated++;
  }
  return !interrupted;
}

}  // namespace omx::runtime
