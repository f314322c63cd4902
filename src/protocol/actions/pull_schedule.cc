// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/pull_schedule.h"

#include <algorithm>
#include <array>
#include <optional>

#include "protocol/actions/pull_request.h"
#include "protocol/counters.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_ports.h"
#include "protocol/state/pull_window.h"
#include "protocol/state/rails.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "protocol/types.h"
#include "wire/packets.h"
#include "wire/udp_bulk.h"

namespace omx::protocol {

namespace {

// Senders that are asked at the same time when there are many. The number allows some of them to be slow.
constexpr std::uint32_t kTurnsInFlight = 8;
// A request for so little costs the port nothing.
constexpr std::uint32_t kNoTurn = 1024;
// From this size on, a sleeper that is woken only for the end has more to copy than comes while it wakes.
constexpr std::uint64_t kMidwayBytes = 256 * 1024;
// GSO frames that a sleeper asks for at once.
constexpr std::uint32_t kGsoFramesAsleep = 4;
// A rest of so few bytes is not worth a request of its own.
constexpr std::uint64_t kRest = 2048;

// Returns how many more frames may be on their way. Replies are numbered in 8 bits.
std::uint32_t numbers_left(const Pull& pull) {
  return pull.block_count == 0 ? 256 : 256 - (pull.next_frame - pull.blocks[pull.first_block].first);
}

// Returns how many frames one datagram of the bulk path holds (a GSO batch).
std::uint32_t batch_of(const Pull& pull) {
  return wire::gso_batch_frames(
      static_cast<std::uint32_t>(pull.unit + wire::kBulkHeader + peer_overhead(*pull.peer)));
}

// Returns the most frames that a request asks for. By a bulk path it is one GSO batch, and more for a
// sleeper, which few answers should wake. Replies are numbered in 8 bits.
std::uint32_t block_most(const State& s, const Pull& pull) {
  const Peer& p = *pull.peer;
  const bool free = p.agreed.extended && p.agreed.mode == wire::Mode::omx;
  const std::uint32_t numbers = std::min<std::uint32_t>(wire::kGsoBatchFrames, 256 / pull.blocks_max);
  if (pull.gso) return std::min(s.pulling.sleeping ? kGsoFramesAsleep : 1, numbers);
  if (pull.by_bulk)
    return std::clamp<std::uint32_t>(s.pulling.sleeping ? numbers : batch_of(pull), 1, numbers);
  return free ? std::min<std::uint32_t>(p.agreed.peer_pull_frames, 32) : p.agreed.sizes.pull_frames;
}

// Returns how many frames the pull asks for at its turn, at most what is left.
std::uint32_t frames_of_turn(State& s, const Pull& pull, unsigned rail) {
  std::uint32_t most = std::min(block_most(s, pull), numbers_left(pull));
  if (pull.next_frame < pull.rings_at) most = std::min(most, pull.rings_at - pull.next_frame);
  const std::uint32_t blocks = pull_striped(pull) ? pull_blocks(s) : pull.blocks_max;
  const std::uint32_t parts = s.pulling.senders > 1 ? kTurnsInFlight : blocks;
  // Reference MX expects whole blocks (docs/spec/protocol.md 8.3). A small window then holds fewer of them.
  const Peer& p = *pull.peer;
  const bool whole = !p.agreed.extended && p.agreed.mode == wire::Mode::mxoe;
  const auto turn =
      std::clamp<std::uint32_t>(pull_allowed(s, rail) / parts / pull.unit, whole ? most : 1, most);
  const std::uint32_t left = pull.frames - pull.next_frame, last = pull.frames - 1;
  const bool with_rest =
      left == turn + 1 && turn < most && pull_frame_end(pull, last) - pull_frame_start(pull, last) <= kRest;
  return with_rest ? left : std::min(turn, left);
}

std::uint8_t home_of(const Pull& pull) {
  return pull.peer->rails ? pull.peer->rails->home : std::uint8_t{0};
}

bool wants(const Pull& pull) {
  return pull.block_count < pull.blocks_max && pull.next_frame < pull.frames && numbers_left(pull) > 0;
}

void turn_update(State& s, PeerPulls& pulls) {
  pulls.turn.unlink();
  if (!pulls.wanting.empty()) s.pulling.turns.push_back(pulls);
}

void ask(State& s, Pull& pull, std::uint32_t frames, std::uint8_t rail) {
  pull_charge(s, pull, frames, rail);
  pull_ask(s, pull, frames, rail);
}

// Returns the board for the next block of a striped pull, or nothing if the pull has to wait. The best board
// is the one where the block arrives first. If that has no room, the next best one is taken, unless all that
// is left would come earlier by the best.
std::optional<std::uint8_t> rail_choose(State& s, Pull& pull) {
  const unsigned usable = rails_usable(s, *pull.peer, pull.unit);
  std::array<std::uint64_t, kRailsMost> rates{};
  std::uint64_t fastest = 0;
  for (unsigned i = 0; i < kRailsMost; i++) {
    const PullPort& port = s.pulling.port(i);
    if (!(usable >> i & 1) || s.now - port.rate_known > kRateKept) continue;
    rates[i] = port.rate;
    fastest = std::max(fastest, port.rate);
  }
  struct Candidate {
    unsigned rail = kRailsMost;
    std::uint64_t time = ~std::uint64_t{0};
  } best, free;
  for (unsigned i = 0; i < kRailsMost; i++) {
    if (!(usable >> i & 1)) continue;
    const PullPort& port = s.pulling.port(i);
    // A board with an unknown rate is tried.
    if (rates[i] == 0) rates[i] = std::max<std::uint64_t>(fastest, 1);
    const std::uint64_t bytes = std::uint64_t{frames_of_turn(s, pull, i)} * pull.unit;
    const Candidate it{i, pull_time_of(port, rates[i], bytes)};
    if (it.time < best.time) best = it;
    const bool room =
        s.now >= port.paced_until && (port.in_flight == 0 || port.in_flight + bytes <= pull_allowed(s, i));
    if (room && it.time < free.time) free = it;
  }
  if (free.rail == kRailsMost) return std::nullopt;
  const std::uint64_t left = pull.length - pull_frame_start(pull, pull.next_frame);
  if (free.rail != best.rail && free.time > pull_time_of(s.pulling.port(best.rail), rates[best.rail], left))
    return std::nullopt;
  return static_cast<std::uint8_t>(free.rail);
}

// Returns the board by which the pull may ask for its next frames now.
std::optional<std::uint8_t> rail_of_turn(State& s, Pull& pull) {
  if (pull_striped(pull)) [[unlikely]]
    return rail_choose(s, pull);
  const std::uint8_t rail = home_of(pull);
  const std::uint32_t frames = frames_of_turn(s, pull, rail);
  const std::uint64_t in_flight = s.pulling.port(rail).in_flight;
  const std::uint32_t allowed = pull.by_bulk ? pull_bulk_allowed(s) : pull_allowed(s, rail);
  // One turn is always allowed, however small the window, but not before its time.
  if (s.now < s.pulling.port(rail).paced_until) return std::nullopt;
  if (in_flight > 0 && in_flight + std::uint64_t{frames} * pull.unit > allowed) return std::nullopt;
  return rail;
}

// Returns whether the missing frames of a block are to be asked for again once they can no longer be merely
// late.
bool passed(const PullBlock& block) {
  return block.missing && block.passed_at > block.asked_last;
}

}  // namespace

void pull_await_first(State& s, Pull& pull, std::uint32_t frames) {
  pull_charge(s, pull, frames, home_of(pull));
  pull_await(s, pull, frames);
}

void pull_ring_midway(State& s, Pull& pull) {
  const Peer& p = *pull.peer;
  pull.rings_at = 0;
  if (!s.pulling.sleeping || s.pulling.senders > 1 || p.rx.pulls->running > 1 || p.rails) return;
  const std::uint32_t left = pull.frames - pull.next_frame, blocks = pull.blocks_max - pull.block_count;
  const std::uint32_t allowed = pull.by_bulk ? pull_bulk_allowed(s) : pull_allowed(s);
  if (left > blocks * block_most(s, pull) || std::uint64_t{pull.frames} * pull.unit > allowed) return;
  if (std::uint64_t{left} * pull.unit < kMidwayBytes) return;
  const std::uint32_t step = pull.by_bulk ? std::max(batch_of(pull), 1U) : 1;
  // Woken earlier, the application would find too little to stay awake. Woken half-way, it would copy what
  // came before for longer than the rest takes to come.
  const std::uint32_t first = std::max(left / 4 / step * step, step), most = block_most(s, pull);
  const auto requests = [most](std::uint32_t frames) { return (frames + most - 1) / most; };
  // The split must not need more requests than can be made at once.
  if (first >= left || left > numbers_left(pull) || requests(first) + requests(left - first) > blocks) return;
  pull.rings_at = pull.next_frame + first;
}

void pull_want(State& s, Pull& pull) {
  if (pull.wanting.linked() || !wants(pull)) return;
  Peer& p = *pull.peer;
  if (pull.length <= kNoTurn && pull.frames == 1) {
    ask(s, pull, 1, home_of(pull));
    return;
  }
  // The oldest pull is first, so that of several messages of one sender the first one is complete first.
  PeerPulls& pulls = *p.rx.pulls;
  Pull* younger = pulls.wanting.front();
  while (younger && younger->age - pull.age > ~0U / 2) younger = pulls.wanting.next(*younger);
  if (younger)
    pulls.wanting.insert_before(*younger, pull);
  else
    pulls.wanting.push_back(pull);
  if (!pulls.turn.linked()) s.pulling.turns.push_back(pulls);
}

void pulls_ask(State& s) {
  PullSchedule& schedule = s.pulling;
  for (PeerPulls* pulls = schedule.turns.front(); pulls;) {
    Pull& pull = *pulls->wanting.front();
    const auto rail = rail_of_turn(s, pull);
    if (!rail) {
      s.timers.arm_by(schedule.timer, pull_next_look(s));
      if (!rails_used(s)) return;
      pulls = schedule.turns.next(*pulls);  // there may be room on another board
      continue;
    }
    const std::uint32_t frames = frames_of_turn(s, pull, *rail);
    pull_paced(s, pull, frames * pull.unit, *rail);
    ask(s, pull, frames, *rail);
    if (!wants(pull)) pull.wanting.unlink();
    turn_update(s, *pulls);
    pulls = schedule.turns.front();
  }
}

void pull_schedule_timer(State& s) {
  for (Pull* pull = s.transfers.pull_list.front(); pull; pull = s.transfers.pull_list.next(*pull)) {
    if (s.now >= std::max(pull->last_reply, pull->last_asked) + pull_share_kept(s, *pull->peer))
      pull_uncharge_all(s, *pull);
  }
  pulls_ask(s);
}

void pull_passed(State& s, Pull& pull, PullBlock& block) {
  if (!passed(block)) block.passed_at = s.now;
  const TimeNs due = block.passed_at + pull.peer->tx.trip.lateness();
  if (s.now < due) return s.timers.arm_by(pull.timer, due);
  pull.peer->tx.trip.lost();
  pull_lost(s, pull, block);
  pull_ask_again(s, pull, block, Counter::pull_rerequest_gap);
}

void pull_passed_check(State& s, Pull& pull) {
  for (std::uint32_t i = 0; i < pull.block_count; i++)
    if (passed(pull.block(i))) pull_passed(s, pull, pull.block(i));
}

}  // namespace omx::protocol
