// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/pull_schedule.h"

#include <algorithm>
#include <bit>

#include "protocol/state.h"

namespace omx::protocol {

namespace {

// With several senders: what even the ports of small switches hold.
constexpr std::uint32_t kSharedStart = 192 * 1024;
constexpr std::uint32_t kLeastBytes = 16 * 1024;
constexpr std::uint32_t kLeastFrames = 2;
// Senders that are asked at the same time when there are many: enough for some to be slow.
constexpr std::uint32_t kTurnsInFlight = 8;
// What takes longer was not on its way: one of the two did not run.
constexpr TimeNs kRttMost = 5 * kMillisecond;
constexpr TimeNs kRttPeriod = 1000 * kMillisecond;
constexpr TimeNs kShareKept = 5 * kMillisecond, kShareKeptLeast = kMillisecond / 4;
// Asking for so little costs the port nothing.
constexpr std::uint32_t kNoTurn = 1024;
// So few bytes left over are not worth a request of their own.
constexpr std::uint64_t kRest = 2048;
constexpr TimeNs kSilenceMost = 130 * kMillisecond;

// Replies are numbered in 8 bits: more may not be on their way.
std::uint32_t numbers_left(const Pull& pull) {
  return pull.block_count == 0 ? 256 : 256 - (pull.next_frame - pull.blocks[pull.first_block].first);
}

// At most what is left.
std::uint32_t frames_of_turn(State& s, const Pull& pull) {
  const Partner& p = *pull.partner;
  const bool free = p.extended && p.mode == wire::Mode::omx;
  // By a lane as much as one datagram holds; more for a sleeper, whom few answers should wake. Replies are
  // numbered in 8 bits.
  const std::uint32_t train =
      wire::frames_of_train(static_cast<std::uint32_t>(pull.unit + wire::kBulkHeader + partner_overhead(p)));
  const std::uint32_t numbers = std::min<std::uint32_t>(wire::kTrainFrames, 256 / pull.blocks_max);
  const std::uint32_t block = pull.by_lane
                                  ? std::clamp<std::uint32_t>(s.pulling.drowsy ? numbers : train, 1, numbers)
                              : free ? std::min<std::uint32_t>(p.peer_pull_frames, 32)
                                     : p.sizes.pull_frames;
  const std::uint32_t most = std::min(block, numbers_left(pull));
  const std::uint32_t parts = s.pulling.senders > 1 ? kTurnsInFlight : pull.blocks_max;
  const auto turn = std::clamp<std::uint32_t>(pull_allowed(s) / parts / pull.unit, 1, most);
  const std::uint32_t left = pull.frames - pull.next_frame, last = pull.frames - 1;
  const bool with_rest =
      left == turn + 1 && turn < most && pull_frame_end(pull, last) - pull_frame_start(pull, last) <= kRest;
  return with_rest ? left : std::min(turn, left);
}

bool wants(const Pull& pull) {
  return pull.block_count < pull.blocks_max && pull.next_frame < pull.frames && numbers_left(pull) > 0;
}

void turn_update(State& s, Partner& p) {
  p.pull_turn.unlink();
  if (!p.pulls_wanting.empty()) s.pulling.turns.push_back(p);
}

void uncharge(State& s, Pull& pull, std::uint32_t bytes) {
  const std::uint32_t part = std::min(pull.charge, bytes);
  pull.charge -= part;
  s.pulling.in_flight -= part;
}

void charge(State& s, Pull& pull, std::uint32_t frames) {
  const std::uint32_t bytes = std::min(frames * pull.unit, pull.length);
  pull.charge += bytes;
  s.pulling.in_flight += bytes;
  s.pulling.asked += bytes;
}

void ask(State& s, Pull& pull, std::uint32_t frames) {
  charge(s, pull, frames);
  pull_ask(s, pull, frames);
}

void rtt_measured(PullSchedule& schedule, TimeNs now, TimeNs rtt) {
  schedule.rtt = schedule.rtt == 0 ? rtt : schedule.rtt - schedule.rtt / 8 + rtt / 8;
  schedule.rtt_last = rtt;
  if (now - schedule.rtt_period > kRttPeriod) {
    const bool long_ago = now - schedule.rtt_period > 2 * kRttPeriod;
    schedule.rtt_period = now;
    schedule.rtt_least_before = std::exchange(schedule.rtt_least, rtt);
    schedule.silence_before = long_ago ? 0 : schedule.silence;
    schedule.silence = 0;
  }
  schedule.rtt_least = std::min(schedule.rtt_least, rtt);
}

// Longer than the shortest answers took: frames wait in a queue, which a larger window would only lengthen.
bool queueing(const PullSchedule& schedule) {
  const TimeNs least = std::min(schedule.rtt_least, schedule.rtt_least_before);
  return schedule.rtt_last > least + least / 2 + 10'000;
}

// A sender that gets little of its processor is silent for long, and loses nothing. An answer that follows a
// repetition as closely as answers can is the repetition's: what it repeats was lost.
void silence_measured(const State& s, PullSchedule& schedule, const Pull& pull) {
  const TimeNs least = std::min(schedule.rtt_least, schedule.rtt_least_before);
  if (least == kNever) return;
  const TimeNs since_asked = s.now - std::min(s.now, pull.last_asked);
  if (pull.silent_rounds > 0 && since_asked >= least / 2 && since_asked <= 4 * least + kMillisecond / 10)
    return;
  // Of others that were repeated it is unknown: they must not make patience grow for ever.
  const TimeNs most = pull.silent_rounds > 0 ? s.config.pull_delay_extended : kSilenceMost;
  const TimeNs since = std::max(pull.quiet_since, pull.partner->pull_heard);
  schedule.silence = std::max(schedule.silence, std::min(s.now - since, most));
}

// Who does not answer for so long does not keep the others waiting.
TimeNs share_kept(const PullSchedule& schedule) {
  return std::clamp(schedule.rtt * 4, kShareKeptLeast, kShareKept);
}

void grow(State& s, const Pull& pull, std::uint32_t bytes) {
  PullSchedule& schedule = s.pulling;
  PullWindow& w = schedule.window();
  // The window must be the limit: not what else is slow, nor what a larger window before left in flight.
  if (schedule.in_flight < w.bytes / 2 || schedule.in_flight > w.bytes) return;
  if (queueing(schedule)) {
    w.doubling = false;
    return;
  }
  const std::uint64_t more =
      w.doubling ? bytes : (std::uint64_t{bytes} * pull.unit + w.bytes - 1) / std::max(w.bytes, 1U);
  w.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(w.bytes + more, s.config.pull_window_bytes));
}

}  // namespace

std::uint32_t pull_allowed(State& s) {
  const bool ahead = s.pulling.drowsy && s.pulling.senders <= 1;
  return ahead ? s.config.pull_window_bytes : s.pulling.window().bytes;
}

void pulls_init(State& s) {
  s.pulling.alone.bytes = std::min(kSharedStart, s.config.pull_window_bytes);
  s.pulling.shared.bytes = std::min(kSharedStart, s.config.pull_window_bytes);
}

void pull_enter(State& s, Pull& pull) {
  if (pull.partner->pulls_running++ == 0) s.pulling.senders++;
}

void pull_leave(State& s, Pull& pull) {
  uncharge(s, pull, pull.charge);
  if (pull.wanting.linked()) {
    pull.wanting.unlink();
    if (pull.partner->pulls_wanting.empty()) pull.partner->pull_turn.unlink();
  }
  if (--pull.partner->pulls_running == 0) s.pulling.senders--;
}

void pull_await_first(State& s, Pull& pull, std::uint32_t frames) {
  charge(s, pull, frames);
  pull_await(s, pull, frames);
}

void pull_want(State& s, Pull& pull) {
  if (pull.wanting.linked() || !wants(pull)) return;
  Partner& p = *pull.partner;
  if (pull.length <= kNoTurn && pull.frames == 1) {
    ask(s, pull, 1);
    return;
  }
  // The oldest first, so that of several messages of one sender the first one is complete first.
  Pull* younger = p.pulls_wanting.front();
  while (younger && younger->age - pull.age > ~0U / 2) younger = p.pulls_wanting.next(*younger);
  if (younger)
    p.pulls_wanting.insert_before(*younger, pull);
  else
    p.pulls_wanting.push_back(pull);
  if (!p.pull_turn.linked()) s.pulling.turns.push_back(p);
}

void pulls_ask(State& s) {
  PullSchedule& schedule = s.pulling;
  while (Partner* p = schedule.turns.front()) {
    Pull& pull = *p->pulls_wanting.front();
    const std::uint32_t frames = frames_of_turn(s, pull);
    const std::uint32_t allowed =
        pull.by_lane ? std::min(pull_allowed(s), s.config.lane_window) : pull_allowed(s);
    // One turn is always allowed, however small the window.
    if (schedule.in_flight > 0 && schedule.in_flight + std::uint64_t{frames} * pull.unit > allowed) {
      s.timers.arm_by(schedule.timer, s.now + share_kept(schedule));
      return;
    }
    ask(s, pull, frames);
    if (!wants(pull)) pull.wanting.unlink();
    turn_update(s, *p);
  }
}

void pull_arrived(State& s, Pull& pull, PullBlock& block, std::uint32_t bytes) {
  if (block.untouched && !block.repeated)
    rtt_measured(s.pulling, s.now, std::min(s.now - block.asked_at, kRttMost));
  silence_measured(s, s.pulling, pull);
  Partner& p = *pull.partner;
  p.pull_heard = s.now;
  if (block.untouched && !block.repeated) p.pull_answered = std::max(p.pull_answered, block.asked);
  block.untouched = false;
  grow(s, pull, bytes);
  uncharge(s, pull, pull.unit);
}

void pull_repeated(State& s, Pull& pull) {
  std::uint32_t missing = 0;
  for (std::uint32_t i = 0; i < pull.block_count; i++)
    missing += static_cast<std::uint32_t>(std::popcount(pull.block(i).missing));
  s.pulling.in_flight -= pull.charge;
  pull.charge = std::min(missing * pull.unit, pull.length);
  s.pulling.in_flight += pull.charge;
}

void pull_lost(State& s, const Pull& pull, const PullBlock& block) {
  PullWindow& w = s.pulling.window();
  if (block.asked <= w.reacted) return;
  w.reacted = s.pulling.asked;
  w.doubling = false;
  const std::uint32_t least = std::max(kLeastBytes, kLeastFrames * pull.unit);
  w.bytes = std::min(std::max(w.bytes - w.bytes / 4, least), s.config.pull_window_bytes);
}

void pull_schedule_timer(State& s) {
  const TimeNs kept = share_kept(s.pulling);
  for (Pull* pull = s.pull_list.front(); pull; pull = s.pull_list.next(*pull)) {
    if (s.now >= std::max(pull->last_reply, pull->last_asked) + kept) uncharge(s, *pull, pull->charge);
  }
  pulls_ask(s);
}

TimeNs pull_patience(const State& s, TimeNs most) {
  const TimeNs silence = std::max(s.pulling.silence, s.pulling.silence_before);
  return std::max(std::min(most, std::max(s.config.pull_patience_least, s.pulling.rtt * 8)),
                  silence + silence / 2);
}

}  // namespace omx::protocol
