// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/state/pull_window.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <limits>
#include <utility>

#include "protocol/counters.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_ports.h"
#include "protocol/state/rails.h"
#include "protocol/state/round_trip.h"
#include "protocol/state/state.h"

namespace omx::protocol {

namespace {

// The windows begin with what the ports of small switches hold. Several senders meet at a port that others
// may use, too.
constexpr std::uint32_t kAloneStart = 192 * 1024, kSharedStart = 48 * 1024;
constexpr std::uint32_t kLeastBytes = 16 * 1024;
constexpr std::uint32_t kLeastFrames = 2;
// From this share of losses on, one in so many, the window may be as small as this part of a frame. Requests
// are then paced by time.
constexpr std::uint32_t kHeavyOneIn = 10, kLeastPart = 8;
// A time longer than this, and several times as long as the shortest, was not spent on the path. One of the
// two hosts did not run.
constexpr TimeNs kRttMost = 5 * kMillisecond;
// All frames of one turn have the time of its beginning, so an answer to a request of the same turn seems to
// take no time.
constexpr TimeNs kRttLeast = 1'000;
constexpr unsigned kRttTimes = 4;
constexpr TimeNs kRttPeriod = 1000 * kMillisecond;
constexpr TimeNs kShareKept = 5 * kMillisecond, kShareKeptLeast = kMillisecond / 4;
// For a sender whose distance is not known, if others do not wait for the window.
constexpr TimeNs kShareKeptUnknown = 20 * kMillisecond;
// The receive ring holds a window. Data that are still on a long path need no room there.
constexpr TimeNs kLongWay = 1 * kMillisecond;
constexpr std::uint32_t kWindowMost = 64U << 20;
// A larger share of losses than one in so many shows that a queue overflows. A smaller share is due to the
// path itself, such as a bad cable, and a smaller window would not reduce it.
constexpr std::uint32_t kLossOneIn = 25;
// Data that a sleeper asked for beyond the window wait in front of the sender's link. If something slower is
// on the path, they are lost, and the sleeper stays within the window for this time.
constexpr TimeNs kAheadPause = 10'000 * kMillisecond;
constexpr TimeNs kSilenceMost = 130 * kMillisecond;
constexpr std::uint64_t kRailAhead = 2;  // milliseconds of a board's rate that are asked for ahead
constexpr std::uint64_t kRailAheadLeast = 192 * 1024;

void uncharge(State& s, Pull& pull, std::uint32_t bytes, unsigned rail) {
  const std::uint32_t part = std::min(pull.charges[rail], bytes);
  PullPort& port = s.pulling.port(rail);
  pull.charges[rail] -= part;
  port.in_flight -= part;
  if (port.in_flight == 0) port.rate_since = 0;
}

}  // namespace

void pull_uncharge_all(State& s, Pull& pull) {
  for (unsigned rail = 0; rail < pull.charges.size(); rail++) uncharge(s, pull, pull.charges[rail], rail);
}

void pull_charge(State& s, Pull& pull, std::uint32_t frames, unsigned rail) {
  const std::uint32_t bytes = std::min(frames * pull.unit, pull.length);
  pull.charges[rail] += bytes;
  s.pulling.port(rail).in_flight += bytes;
  s.pulling.asked += bytes;
}

namespace {

// Measures the rate of a board over a time in which something was always on its way.
void rate_measured(PullPort& port, TimeNs now, std::uint32_t bytes) {
  if (port.rate_since == 0) {
    port.rate_since = now;
    port.rate_bytes = 0;
    return;
  }
  port.rate_bytes += bytes;
  const TimeNs time = now - port.rate_since;
  if (time < kRateTime) return;
  const std::uint64_t rate = port.rate_bytes * kMillisecond / time;
  const bool fresh = port.rate == 0 || now - port.rate_known > kRateKept;
  port.rate = std::max<std::uint64_t>(fresh ? rate : port.rate - port.rate / 4 + rate / 4, 1);
  port.rate_known = port.rate_since = now;
  port.rate_bytes = 0;
}

// While others fill the queue no answer shows how short the path is, so what is known of it is kept.
void rtt_measured(PullPort& schedule, TimeNs now, TimeNs rtt, bool contended) {
  schedule.rtt = schedule.rtt == 0 ? rtt : schedule.rtt - schedule.rtt / 8 + rtt / 8;
  schedule.rtt_last = rtt;
  if (contended) schedule.rtt_period = now;
  if (now - schedule.rtt_period > kRttPeriod) {
    const bool long_ago = now - schedule.rtt_period > 2 * kRttPeriod;
    schedule.rtt_period = now;
    schedule.rtt_least_before = std::exchange(schedule.rtt_least, rtt);
    schedule.silence_before = long_ago ? 0 : schedule.silence;
    schedule.silence = 0;
  }
  schedule.rtt_least = std::min(schedule.rtt_least, rtt);
}

// Returns whether the last answer took longer than the shortest. Then frames wait in a queue, which a larger
// window would only lengthen.
bool queueing(const PullPort& schedule) {
  return schedule.rtt_last > CongestionWindow::delay_short(schedule.rtt_shortest());
}

// Returns whether answers are known to take long.
bool long_way(const PullPort& port) {
  const TimeNs least = port.rtt_shortest();
  return least != kNever && least > kLongWay;
}

// Returns how much may be in flight at most.
std::uint32_t window_most(const PullPort& port, std::uint32_t bytes) {
  if (!long_way(port)) return bytes;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
      std::uint64_t{bytes} * (port.rtt_shortest() / kLongWay + 1), std::max(kWindowMost, bytes)));
}

// Returns what the window for pulls by this board has to know of its path.
CongestionWindow::Path path_of(const State& s, const Pull& pull, const PullPort& port) {
  const std::uint32_t least = std::max(kLeastBytes, kLeastFrames * pull.unit);
  return {port.rtt_shortest(), pull.unit,
          port.loss.above_one_in(kHeavyOneIn) ? pull.unit / kLeastPart : least,
          window_most(port, s.config.pull_window_bytes)};
}

// Returns whether a lone sender is asked for more than the window (pull_allowed()).
bool asks_ahead(const State& s, const PullPort& port) {
  // On a long path the bottleneck may be anywhere.
  return s.pulling.sleeping && s.pulling.senders <= 1 && s.now >= s.pulling.ahead_after &&
         port.rtt_shortest() <= kLongWay;
}

// Measures how long a sender was silent that went on by itself. A sender that gets little of its processor is
// silent for long, and loses nothing. An answer that comes as soon after a repetition as answers do belongs
// to that repetition, so data were lost.
void silence_measured(const State& s, PullPort& schedule, const Pull& pull) {
  const TimeNs least = schedule.rtt_shortest();
  if (least == kNever) return;
  const TimeNs since_asked = s.now - std::min(s.now, pull.last_asked);
  if (pull.silent_rounds > 0 && since_asked >= least / 2 && since_asked <= 4 * least + kMillisecond / 10)
    return;
  // Other answers after repetitions tell less, so they must not make patience grow indefinitely.
  const TimeNs most = pull.silent_rounds > 0 ? s.config.reliability.pull_delay_extended : kSilenceMost;
  const TimeNs since = std::max(pull.quiet_since, pull.peer->rx.pulls->heard);
  schedule.silence = std::max(schedule.silence, std::min(s.now - since, most));
}

// Measures how late a passed frame came. It was late, not lost, if it came sooner than the answer to another
// request for it can.
void lateness_measure(const State& s, const Pull& pull, const PullBlock& block) {
  if (block.passed_at == 0 || block.repeated_again) return;
  RoundTrip& trip = pull.peer->tx.trip;
  const bool first = block.passed_at > block.asked_last;
  if (first || s.now - block.asked_last < trip.least() / 2) trip.overtaken(s.now, s.now - block.passed_at);
}

// Measures the time from a request to its first answer. The time of a repeated request is an upper bound,
// which is taken until a round trip has been measured. Otherwise later requests would be repeated too soon.
void answer_measure(State& s, Pull& pull, const PullBlock& block) {
  Peer& p = *pull.peer;
  if (!block.untouched || block.unscheduled) return;
  if (block.repeated) {
    // With several boards `asked_at` is the time of the last request.
    if (!p.tx.trip.known() && !p.rails)
      p.tx.trip.waited(std::min(s.now - block.asked_at, s.config.reliability.resend_delay_max));
    return;
  }
  PullPort& port = s.pulling.port(block.rail);
  const TimeNs took = s.now - block.asked_at, least = port.rtt_shortest();
  if (took < kRttLeast) return;
  CongestionWindow& window = s.pulling.window(block.rail);
  rtt_measured(port, s.now, std::min(took, least == kNever ? kNever : std::max(kRttMost, kRttTimes * least)),
               window.contended());
  // Data that are asked for ahead wait in front of their board.
  if (!asks_ahead(s, port) && !rails_used(s))
    window.answered(path_of(s, pull, port), {s.now, took, block.asked, s.pulling.asked,
                                             s.pulling.asked - std::min(s.pulling.asked, port.in_flight)});
  p.tx.trip.measured(s.now, std::min(took, std::max(kRttMost, p.tx.trip.patience())));
}

}  // namespace

namespace {

TimeNs share_kept(TimeNs trip) {
  return std::clamp(trip * 4, kShareKeptLeast, std::max(kShareKept, trip * 2));
}

// Returns how long a sender at an unknown distance keeps its share.
TimeNs share_kept_unknown(const PullSchedule& schedule) {
  return schedule.senders > 1 ? kShareKept : kShareKeptUnknown;
}

}  // namespace

TimeNs pull_share_kept(const State& s, const Peer& p) {
  const TimeNs kept = share_kept(std::max(s.pulling.rtt, p.tx.trip.smoothed()));
  return p.tx.trip.known() ? kept : std::max(kept, share_kept_unknown(s.pulling));
}

TimeNs pull_share_kept_least(const State& s) {
  return s.pulling.rtt > 0 ? share_kept(s.pulling.rtt) : share_kept_unknown(s.pulling);
}

void pull_paced(State& s, const Pull& pull, std::uint32_t bytes, unsigned rail) {
  PullPort& port = s.pulling.port(rail);
  const std::uint32_t window = s.pulling.window(rail).bytes();
  // A bound that the user has set says nothing of the path. A sleeper asks for more than the window.
  if (window >= pull.unit || s.config.pull_window_bytes < pull.unit || asks_ahead(s, port)) return;
  port.paced_until = s.now + port.rtt * bytes / std::max(window, pull.unit / kLeastPart);
}

TimeNs pull_next_look(const State& s) {
  TimeNs next = s.now + pull_share_kept_least(s);
  for (unsigned rail = 0; rail < std::max<unsigned>(s.config.rails.count, 1); rail++)
    if (const TimeNs paced = s.pulling.port(rail).paced_until; s.now < paced) next = std::min(next, paced);
  return next;
}

namespace {

void grow(State& s, const Pull& pull, std::uint32_t bytes, unsigned rail) {
  const PullPort& port = s.pulling.port(rail);
  CongestionWindow& w = s.pulling.window(rail);
  // The window grows only where it is the limit. Otherwise something else is slow, or a larger window before
  // has left data in flight.
  if (port.in_flight < w.bytes() / 2 || port.in_flight > std::max(w.bytes(), pull.unit)) return;
  w.grow(path_of(s, pull, port), bytes, queueing(port), s.pulling.senders <= 1);
}

}  // namespace

std::uint64_t pull_time_of(const PullPort& port, std::uint64_t rate, std::uint64_t bytes) {
  return (port.in_flight + bytes) * kMillisecond / rate;
}

bool pull_striped(const Pull& pull) {
  return pull.peer->rails && pull.length >= kRailBytes;
}

std::uint32_t pull_allowed(State& s, unsigned rail) {
  if (!s.config.pull_window) return std::numeric_limits<std::uint32_t>::max();
  // A window that grew on a long path is too large on a short one.
  const std::uint32_t allowed = asks_ahead(s, s.pulling.port(rail))
                                    ? s.config.pull_window_bytes
                                    : std::min(s.pulling.window(rail).bytes(),
                                               window_most(s.pulling.port(rail), s.config.pull_window_bytes));
  if (!rails_used(s)) return allowed;
  // Data asked for early only wait in front of that board, and make it look as if nothing came by it.
  const std::uint64_t enough =
      std::max<std::uint64_t>(s.pulling.port(rail).rate * kRailAhead, kRailAheadLeast);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(allowed, enough));
}

std::uint32_t pull_bulk_allowed(State& s) {
  return std::min(pull_allowed(s), window_most(s.pulling, s.config.bulk.window));
}

std::uint32_t pull_blocks(const State& s) {
  const std::size_t least = long_way(s.pulling) ? kPullBlocksMax : 1;
  return std::clamp<std::uint32_t>(s.config.pull_blocks, least, kPullBlocksMax);
}

void pulls_init(State& s) {
  for (unsigned rail = 0; rail < kRailsMost; rail++) {
    PullPort& port = s.pulling.port(rail);
    port.alone = CongestionWindow(std::min(kAloneStart, s.config.pull_window_bytes));
    port.shared = CongestionWindow(std::min(kSharedStart, s.config.pull_window_bytes));
  }
}

void pull_enter(State& s, Pull& pull) {
  if (pull.share) return;
  if (pull.peer->rx.pulls->running++ == 0) s.pulling.senders++;
}

void pull_pace_begin(State& s, Pull& pull) {
  pull.paced = true;
  s.pulling.pace.enter(s.now);
}

void pull_leave(State& s, Pull& pull) {
  if (pull.share) return;
  pull_uncharge_all(s, pull);
  PeerPulls& pulls = *pull.peer->rx.pulls;
  if (pull.paced) s.pulling.pace.leave(s.now);
  pull.paced = false;
  if (pull.wanting.linked()) {
    pull.wanting.unlink();
    if (pulls.wanting.empty()) pulls.turn.unlink();
  }
  if (--pulls.running == 0) s.pulling.senders--;
}

void pull_arrived(State& s, Pull& pull, PullBlock& block, std::uint32_t bytes) {
  assert(pull.block_count > 0);
  PullPort& port = s.pulling.port(block.rail);
  answer_measure(s, pull, block);
  port.loss.came();
  lateness_measure(s, pull, block);
  silence_measured(s, port, pull);
  if (rails_used(s)) rate_measured(port, s.now, bytes);
  if (pull.paced) s.pulling.pace.arrived(s.now, bytes);
  PeerPulls& pulls = *pull.peer->rx.pulls;
  pulls.heard = s.now;
  if (block.untouched && !block.repeated) pulls.answered = std::max(pulls.answered, block.asked);
  block.untouched = false;
  grow(s, pull, bytes, block.rail);
  uncharge(s, pull, pull.unit, block.rail);
}

void pull_repeated(State& s, Pull& pull) {
  std::array<std::uint32_t, kRailsMost> missing{};
  for (std::uint32_t i = 0; i < pull.block_count; i++)
    missing[pull.block(i).rail] += static_cast<std::uint32_t>(std::popcount(pull.block(i).missing));
  for (unsigned rail = 0; rail < kRailsMost; rail++) {
    PullPort& port = s.pulling.port(rail);
    const std::uint64_t others = port.in_flight - pull.charges[rail];
    pull.charges[rail] = std::min(missing[rail] * pull.unit, pull.length);
    port.in_flight = others + pull.charges[rail];
  }
}

void pull_ahead_lost(State& s, const PullBlock& block) {
  if (s.pulling.port(block.rail).in_flight > s.pulling.window(block.rail).bytes())
    s.pulling.ahead_after = s.now + kAheadPause;
}

void pull_marked(State& s, Pull& pull, const PullBlock& block) {
  s.count(Counter::recv_marked)++;
  pull.leave = false;  // unscheduled data would make the queue longer
  s.pulling.window(block.rail)
      .marked(path_of(s, pull, s.pulling.port(block.rail)), block.asked, s.pulling.asked);
}

void pull_lost(State& s, const Pull& pull, const PullBlock& block) {
  CongestionWindow& w = s.pulling.window(block.rail);
  PullPort& port = s.pulling.port(block.rail);
  pull_ahead_lost(s, block);
  // If a block was not answered at all, its request may have been lost, so it counts once.
  for (int i = block.untouched ? 1 : std::popcount(block.missing); i > 0; i--) port.loss.lost();
  const bool path_itself =
      s.pulling.senders <= 1 && port.loss.below_one_in(kLossOneIn) && !queueing(port) && !w.contended();
  if (!path_itself) w.lost(path_of(s, pull, port), block.asked, s.pulling.asked);
}

TimeNs pull_patience(const State& s, const Peer& p) {
  TimeNs silence = 0;
  for (unsigned rail = 0; rail < std::max<unsigned>(s.config.rails.count, 1); rail++) {
    const PullPort& port = s.pulling.port(rail);
    silence = std::max({silence, port.silence, port.silence_before});
  }
  const TimeNs answer = p.tx.trip.known()
                            ? std::min(p.tx.trip.patience(), s.config.reliability.resend_delay_max)
                            : s.config.reliability.pull_delay_extended;
  return std::max({s.config.reliability.pull_patience_least, answer, silence + silence / 2});
}

}  // namespace omx::protocol
