// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/wait/sleeping.h"

#include <poll.h>

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "wire/packets.h"

namespace omx::runtime {

namespace {

// How long a descriptor is left alone after an error, so that a lasting error costs no processor time.
constexpr TimeNs kErrorPause = 100 * protocol::kMillisecond;
constexpr short kFailure = POLLERR | POLLHUP | POLLNVAL;

}  // namespace

// Positions in the poll set.
struct Sleeping::Waits {
  enum { event, local, frames, bulk, udp_bulk, unknown_peers, fast_path, own };
  enum { rail_frames, rail_bulk, rail_fast_path, each_rail };
  static constexpr int kMost = own + each_rail * (wire::kRailsMost - 1);

  pollfd fds[kMost];
  nfds_t count = 0;
};

bool Sleeping::whole_link_wakes(const link::Transport& of, Moderation::EventMask event_mask) {
  if (event_mask != Moderation::EventMask::solicited) return event_mask == Moderation::EventMask::frames;
  return of.wakeup() && of.wakeup()->link_wakes();
}

int Sleeping::frames_descriptor(const link::Transport& of, Moderation::EventMask event_mask) {
  if (whole_link_wakes(of, event_mask)) return of.descriptor();
  return event_mask == Moderation::EventMask::masked ? -1 : descriptor_of(of.wakeup());
}

bool Sleeping::rails_pending() const {
  return std::any_of(rails_.begin(), rails_.end(), [](const Source& rail) { return rail.link->pending(); });
}

std::optional<SleepPlan> Sleeping::plan(const SleepRequest& request) {
  assert(link_);
  using EventMask = Moderation::EventMask;
  const TimeNs now = time_.now;
  SleepPlan plan;
  plan.until = request.until;
  plan.stopped = request.stopped;
  plan.polls_link = !request.stopped && link_polled();
  if (!plan.stopped && !plan.polls_link) plan.until = std::min(plan.until, quiet_until_);
  if (plan.polls_link) plan.event_mask = moderation_.event_mask();
  plan.udp_bulk =
      plan.event_mask == EventMask::frames || (plan.event_mask == EventMask::solicited && request.announced);
  const TimeNs timer = plan.polls_link ? moderation_.look_at(now) : kNever;
  plan.moderated = timer < plan.until;
  if (plan.moderated) plan.until = timer;
  const link::Datagram* const datagram = link_->datagram();
  // Frames that lie there already cause no further solicited frame. No descriptor reports frames that a poll
  // has taken from the kernel.
  const bool unread =
      plan.polls_link && ((datagram && datagram->holds()) ||
                          (plan.event_mask != EventMask::frames &&
                           ((!whole_link_wakes(*link_, plan.event_mask) && link_->pending()) ||
                            request.unread || rails_pending())));
  if (plan.until <= now || unread) return std::nullopt;
  // While the endpoint is stopped, no thread would read, so peers need not wake this one.
  if (hub_ && !plan.stopped && !hub_->fall_asleep()) return std::nullopt;
  return plan;
}

void Sleeping::listen(Waits& waits, const ParkSlot& slot, const SleepPlan& plan) const {
  const bool frames = whole_link_wakes(*link_, plan.event_mask);
  const link::Datagram* const datagram = link_->datagram();
  waits.fds[Waits::event] = {slot.descriptor(), POLLIN, 0};
  waits.fds[Waits::local] = {plan.stopped || !hub_ ? -1 : hub_->descriptor(), POLLIN, 0};
  waits.fds[Waits::frames] = {frames_descriptor(*link_, plan.event_mask), POLLIN, 0};
  waits.fds[Waits::bulk] = {frames ? descriptor_of(link_->bulk_path()) : -1, POLLIN, 0};
  waits.fds[Waits::udp_bulk] = {plan.udp_bulk ? descriptor_of(link_->udp_bulk_path()) : -1, POLLIN, 0};
  waits.fds[Waits::unknown_peers] = {datagram ? datagram->unknown_peers_descriptor() : -1, POLLIN, 0};
  waits.fds[Waits::fast_path] = {frames && datagram ? datagram->fast_path_descriptor() : -1, POLLIN, 0};
  waits.count = plan.polls_link ? Waits::own : Waits::frames;
  if (rails_.empty() || plan.stopped) return;
  // The other boards are listened to even while the endpoint's own board is in trouble.
  for (int i = Waits::frames; i < Waits::own && !plan.polls_link; i++) waits.fds[i].fd = -1;
  waits.count = Waits::own;
  rails_listen(waits, plan.event_mask);
}

void Sleeping::rails_listen(Waits& waits, Moderation::EventMask event_mask) const {
  for (const Source& rail : rails_) {
    assert(waits.count + Waits::each_rail <= Waits::kMost);
    const bool quiet = time_.now < rail.quiet_until;
    const bool frames = !quiet && whole_link_wakes(*rail.link, event_mask);
    const link::Datagram* const datagram = rail.link->datagram();
    pollfd* const fds = waits.fds + waits.count;
    fds[Waits::rail_frames] = {quiet ? -1 : frames_descriptor(*rail.link, event_mask), POLLIN, 0};
    fds[Waits::rail_bulk] = {frames ? descriptor_of(rail.link->bulk_path()) : -1, POLLIN, 0};
    fds[Waits::rail_fast_path] = {frames && datagram ? datagram->fast_path_descriptor() : -1, POLLIN, 0};
    waits.count += Waits::each_rail;
  }
}

// Returns what poll() reported for the endpoint's own board.
int Sleeping::own_events(Waits& waits, SleepEnd& end) {
  pollfd* const fds = waits.fds;
  // Another thread may have closed the bulk path while the lock was free (BulkReading). That is no fault of
  // the link.
  if (fds[Waits::bulk].fd != descriptor_of(link_->bulk_path())) fds[Waits::bulk].revents = 0;
  // Late frames of a message that is complete wait in the bulk path, too.
  if ((fds[Waits::bulk].revents | fds[Waits::udp_bulk].revents) & POLLIN) end.bulk = true;
  link::Datagram* const datagram = link_->datagram();
  if (datagram) {
    if (fds[Waits::unknown_peers].revents) datagram->unknown_peers_poll();
    if (fds[Waits::fast_path].revents) datagram->fast_path_poll();
    if (fds[Waits::frames].revents) datagram->main_poll();
  }
  if (datagram && ((fds[Waits::frames].revents | fds[Waits::fast_path].revents) & POLLERR) &&
      datagram->errors_are_news()) {
    for (const auto which : {Waits::frames, Waits::fast_path})
      fds[which].revents = static_cast<short>(fds[which].revents & ~POLLERR);
  }
  return fds[Waits::frames].revents | fds[Waits::bulk].revents | fds[Waits::udp_bulk].revents |
         fds[Waits::fast_path].revents;
}

int Sleeping::rails_events(const Waits& waits, Moderation::EventMask event_mask, SleepEnd& end) {
  int events = 0;
  const pollfd* fds = waits.fds + Waits::own;
  for (Source& rail : rails_) {
    const int bulk = fds[Waits::rail_bulk].revents;
    const int frames = fds[Waits::rail_frames].revents | fds[Waits::rail_fast_path].revents;
    if (link::Datagram* const datagram = rail.link->datagram()) {
      if (fds[Waits::rail_fast_path].revents) datagram->fast_path_poll();
      if (fds[Waits::rail_frames].revents) datagram->main_poll();
    }
    fds += Waits::each_rail;
    if ((frames | bulk) & kFailure) {
      end.rails_failed = true;
      rail.quiet_until = time_.now + kErrorPause;
      continue;
    }
    events |= frames | bulk;
    if (bulk) end.bulk = true;
    if (frames && event_mask == Moderation::EventMask::solicited) rail.link->wakeup()->clear();
  }
  return events;
}

SleepEnd Sleeping::sleep(ParkSlot& slot, const SleepPlan& plan) {
  Waits waits{};
  slot.begin(plan.until);
  listen(waits, slot, plan);
  const timespec limit = timespec_of(plan.until - time_.now);
  time_.lock.unlock();
  const int result = ::ppoll(waits.fds, waits.count, plan.until == kNever ? nullptr : &limit, nullptr);
  SleepEnd end;
  end.interrupted = result < 0 && errno == EINTR;
  time_.lock.lock();
  time_.now = time_.clock.read();
  if (result > 0 && (waits.fds[Waits::event].revents & POLLIN)) slot.event_clear();
  end.dismissed = !slot.taken();
  if (end.dismissed) return end;
  slot.end();

  if (hub_ && !plan.stopped) {
    hub_->wake_up();
    end.hub = waits.fds[Waits::local].revents != 0;
    end.hub_quiet = result >= 0 && !end.hub;
  }
  const int own = result > 0 ? own_events(waits, end) : 0;
  const int rails = result > 0 && waits.count > Waits::own ? rails_events(waits, plan.event_mask, end) : 0;
  end.bulk_quiet = result >= 0 && plan.polls_link && plan.event_mask == Moderation::EventMask::frames &&
                   rails_.empty() && !end.bulk;
  woken_by_ = Moderation::WokenBy::other;
  if ((own | rails) & kFailure) {
    // The interface went down or away. The link's descriptor is left alone for a while.
    end.link_failed = true;
    quiet_until_ = time_.now + kErrorPause;
  } else if ((own | rails) && plan.event_mask == Moderation::EventMask::solicited) {
    if (own) link_->wakeup()->clear();
    const bool marked = rails || waits.fds[Waits::frames].revents || waits.fds[Waits::fast_path].revents ||
                        waits.fds[Waits::bulk].revents;
    woken_by_ = marked ? Moderation::WokenBy::solicited : Moderation::WokenBy::announced;
  } else if (own | rails) {
    woken_by_ = Moderation::WokenBy::frame;
  } else if (result == 0 && plan.moderated) {
    woken_by_ = Moderation::WokenBy::timer;
  }
  end.by = woken_by_;
  return end;
}

bool Sleeping::wakeup_open(const link::Transport& of) const {
  link::Wakeup* const wakeup = of.wakeup();
  return wakeup && (!wakeup->link_wakes() || moderation_.masks_bulk_alone()) && wakeup->open();
}

void Sleeping::learn(bool frames, bool useful, std::uint64_t received, std::uint64_t messages) {
  const Moderation::Found found{woken_by_, frames, useful, received, messages, time_.now};
  bool wakeups = moderation_.wants_solicited(found) && wakeup_open(*link_);
  for (const Source& rail : rails_) wakeups = wakeups && wakeup_open(*rail.link);
  moderation_.learn(found, wakeups);
  woken_by_ = Moderation::WokenBy::other;
}

}  // namespace omx::runtime
