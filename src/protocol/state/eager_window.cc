// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/eager_window.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "protocol/counters.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"

namespace omx::protocol {

namespace {

// Header and gap of a frame, about.
constexpr std::uint32_t kFrameOverhead = 64;
// Bytes that each of many senders may send to one receiver before it has answered.
constexpr std::uint32_t kFirstEager = 16 * 1024;
constexpr std::uint32_t kFirstWindow = 64 * 1024;
constexpr std::uint32_t kMost = 16U << 20;
// A smaller share of losses than one in so many is due to the path itself, such as a bad cable. From the
// larger one on, the window is far too large.
constexpr std::uint32_t kLossOneIn = 25, kHeavyOneIn = 10;
// After so long without a loss a trial begins. The time doubles each time that losses come back.
constexpr TimeNs kCalmFirst = 1000 * kMillisecond;
constexpr std::uint8_t kCalmDoublings = 6;
// All that happens in one turn has the time of its beginning. Such an answer seems to take no time.
constexpr TimeNs kTookLeast = 1'000;
// The shortest time grows by a part of itself so often, because paths change.
constexpr TimeNs kLeastPeriod = 1000 * kMillisecond;
constexpr TimeNs kLeastGrowth = 8;
constexpr std::uint64_t kTrialBytes = 4U << 20;
// A path that has carried so many doublings of the first window at once needs no further trial.
constexpr std::uint8_t kProven = 5;
// A message of more frames than this is repaired better when its receiver asks for what it lacks.
constexpr std::uint32_t kFramesMost = 2;

// A NOTIFY always leaves, and cannot ask for its acknowledgement. So it has no part in the window.
std::uint32_t cost(const Request& r) {
  if (r.send_class == SendClass::notify) return 0;
  const bool data = r.send_class < SendClass::large;
  return (data ? r.msg_length : 0) + r.tx.frames * kFrameOverhead;
}

// Frames that overtake each other make single answers late.
bool queueing(const EagerWindow& w) {
  const TimeNs quickest = *std::min_element(w.last.begin(), w.last.end());
  return w.least != kNever && quickest > CongestionWindow::delay_short(w.least);
}

std::uint32_t unit_of(const Peer& p) {
  return medium_unit(p) + kFrameOverhead;
}

// A window of less than two frames loses too much of its time, so only heavy losses make it that small. The
// receiver then asks for the messages one by one.
CongestionWindow::Path path_of(const Peer& p, const EagerWindow& w) {
  const std::uint32_t unit = unit_of(p);
  return {w.least, unit, w.loss.above_one_in(kHeavyOneIn) ? kDeferredLeast : 2 * unit, kMost};
}

void charge(EagerWindow& w, Request& r) {
  r.charged = cost(r);
  w.in_flight += r.charged;
  w.most = std::max(w.most, w.in_flight);
  w.sent += r.charged;
  r.position = w.sent;
}

// Returns whether the receiver of large messages says whether other peers send to it.
bool says_alone(const Peer& p) {
  return (p.agreed.features & wire::kFeatureUnscheduled) && p.agreed.mode == wire::Mode::omx &&
         !p.inside_host();
}

// While others keep the queue long no answer shows how short the path is, so nothing is forgotten.
void least_age(EagerWindow& w, TimeNs now) {
  if (now - w.least_aged < kLeastPeriod) return;
  w.least_aged = now;
  if (w.least != kNever && !w.window.contended()) w.least += w.least / kLeastGrowth;
}

void relapse(Peer& p) {
  if (p.tx.eager_windows <= kCalmDoublings) p.tx.eager_windows++;
}

// Begins with what is on its way.
EagerWindow* begin(State& s, Peer& p) {
  EagerWindow* const w = s.memory.eager_windows.create(kFirstWindow);
  if (!w) return nullptr;
  for (Request* r = p.tx.unacked.front(); r; r = p.tx.unacked.next(*r)) charge(*w, *r);
  w->window = CongestionWindow(std::clamp(w->in_flight, kFirstWindow, kMost));
  w->least_aged = s.now;
  if (p.tx.trip.least() >= kTookLeast) w->least = p.tx.trip.least();
  return w;
}

bool usable(const Peer& p) {
  return p.agreed.extended && p.agreed.mode == wire::Mode::omx && !p.inside_host();
}

// Ends the first trial when all that it let out has arrived, or much has.
void first_trial_end(State& s, Peer& p) {
  const std::uint32_t carried = p.tx.eager->most;
  const unsigned next = p.tx.eager_proven + 1U;
  p.tx.eager_proven = p.tx.eager->sent > kTrialBytes ? kProven : next;
  while (p.tx.eager_proven < kProven && kFirstWindow << (p.tx.eager_proven + 1U) <= carried)
    p.tx.eager_proven++;
  eager_end(s, p);
}

// Returns the window of a path that has just lost or marked something. Begins it if there is none. nullptr:
// the peer cannot have one.
EagerWindow* disturbed(State& s, Peer& p) {
  if (!usable(p)) return nullptr;
  const bool first = !p.tx.eager || eager_first_trial(p);
  if (!p.tx.eager) p.tx.eager = begin(s, p);
  EagerWindow* const w = p.tx.eager;
  if (!w) return nullptr;
  w->calm_since = s.now;
  if (first) s.count(Counter::eager_window)++;
  if (std::exchange(w->trial, false) || first) relapse(p);
  return w;
}

}  // namespace

bool eager_first_trial(const Peer& p) {
  return p.tx.eager && p.tx.eager->trial && p.tx.eager_windows == 0;
}

bool eager_overflows(const Peer& p) {
  const EagerWindow* const w = p.tx.eager;
  return w && !w->trial && !w->loss.below_one_in(kLossOneIn);
}

void eager_try(State& s, Peer& p, const Request& r) {
  if (p.tx.eager_proven >= kProven || p.tx.eager_windows > 0 || !usable(p)) return;
  const std::uint32_t first = kFirstWindow << p.tx.eager_proven;
  // Most messages are shorter than their frames may be, so this comes before they are counted.
  if (std::uint64_t{p.tx.frames_unacked + r.tx.frames} * unit_of(p) <= first) return;
  EagerWindow* const w = p.tx.eager = begin(s, p);
  if (!w) return;
  const std::uint32_t bytes = w->in_flight + cost(r);
  if (bytes <= first) return eager_end(s, p);
  w->trial = true;
  // This message has to leave, because it asks for the acknowledgement of all before it.
  w->window = CongestionWindow(bytes);
  w->unasked = bytes;
}

bool eager_room(const Peer& p, const Request& r) {
  const EagerWindow* const w = p.tx.eager;
  assert(w);
  return w->in_flight == 0 || w->in_flight + cost(r) <= w->window.bytes();
}

bool eager_defers(const Peer& p, const Request& r) {
  if (r.msg_length <= r.home->config.reliability.defers_from) return false;
  const EagerWindow* const w = p.tx.eager;
  const bool burst = w || p.tx.frames_unacked > 0;
  if (r.msg_length > kFirstEager && burst && !p.bulk.alone && says_alone(p)) return true;
  if (!w) return false;
  return w->heavy || r.msg_length > w->window.bytes() ||
         (!w->trial && medium_frames(p, r.msg_length) > kFramesMost);
}

void eager_left(Peer& p, Request& r) {
  EagerWindow* const w = p.tx.eager;
  assert(w);
  charge(*w, r);
  if (r.charged == 0) return;
  w->unasked += r.charged;
  // Two acknowledgements in each window keep it moving.
  r.tx.asks_ack = w->unasked >= w->window.bytes() / 2 || w->in_flight == r.charged;
  if (r.tx.asks_ack) w->unasked = 0;
}

void eager_acked(State& s, Peer& p, const Request& r, bool measures) {
  EagerWindow* const w = p.tx.eager;
  assert(w);
  const std::uint32_t before = w->in_flight;
  w->acked = std::max(w->acked, r.position);
  w->in_flight -= r.charged;
  for (unsigned i = 0; i < r.tx.frames; i++) w->loss.came();
  if (r.tx.spreads > 0) w->spreads = r.tx.spreads / 2U;  // the next message may find more room
  const TimeNs took = s.now - r.last_sent;
  if (measures && r.tx.asks_ack && r.resends == 0 && took >= kTookLeast) {
    least_age(*w, s.now);
    w->least = std::min(w->least, took);
    w->last[w->samples++ % w->last.size()] = took;
    w->window.answered(path_of(p, *w), {s.now, took, r.position, w->sent, w->sent - w->in_flight});
  }
  // The window grows only where it is the limit.
  if (before >= w->window.bytes() / 2) w->window.grow(path_of(p, *w), r.charged, queueing(*w), true);
  if (eager_first_trial(p)) {
    if (w->in_flight == 0 || w->sent > kTrialBytes) first_trial_end(s, p);
  } else if (w->trial) {
    if (w->sent - w->trial_at > kTrialBytes) eager_end(s, p);
  } else if (s.now - w->calm_since > kCalmFirst << (p.tx.eager_windows - 1U)) {
    w->trial = true;
    w->heavy = false;
    w->trial_at = w->sent;
    w->window = CongestionWindow(kFirstWindow);
  }
}

void eager_lost(State& s, Peer& p, Request& r) {
  EagerWindow* const w = disturbed(s, p);
  if (!w) return;
  w->loss.lost();
  w->heavy |= w->loss.above_one_in(kHeavyOneIn) && w->window.bytes() <= 2 * unit_of(p);
  const std::uint64_t position = std::exchange(r.position, ++w->sent);  // the repetition is a later message
  if (w->loss.below_one_in(kLossOneIn) && !queueing(*w) && !w->window.contended()) return;
  w->window.lost(path_of(p, *w), position, w->sent - 1, w->loss.above_one_in(kHeavyOneIn));
}

void eager_marked(State& s, Peer& p) {
  s.count(Counter::marks_told)++;
  EagerWindow* const w = disturbed(s, p);
  if (w) w->window.marked(path_of(p, *w), std::max<std::uint64_t>(w->acked, 1), w->sent);
}

void eager_end(State& s, Peer& p) {
  EagerWindow* const w = std::exchange(p.tx.eager, nullptr);
  if (!w) return;
  for (Request* r = p.tx.unacked.front(); r; r = p.tx.unacked.next(*r)) r->charged = 0;
  s.memory.eager_windows.destroy(w);
}

}  // namespace omx::protocol
