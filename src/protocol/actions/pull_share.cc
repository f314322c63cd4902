// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/pull_share.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "protocol/actions/pull_request.h"
#include "protocol/actions/pull_run.h"
#include "protocol/direct.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_expect.h"
#include "protocol/state/pull_slots.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"

namespace omx::protocol {

namespace {

// A shorter message is read before its sender could begin.
constexpr std::uint32_t kShareLeast = 32 * 1024;
// Frames that the receiver reads at a time. Between two pieces it takes the frames that have come.
constexpr std::uint32_t kStep = 4;

// Asks for more, of the oldest message first. More at once would not fit the sender's ring.
void ask(State& s) {
  auto& list = s.transfers.pull_sharing;
  const std::uint32_t most = std::min<std::uint32_t>(s.config.pull_blocks, kPullBlocksMax);
  std::uint32_t blocks = 0;
  for (Pull* pull = list.front(); pull; pull = list.next(*pull)) blocks += pull->block_count;
  for (Pull* pull = list.front(); pull && blocks < most; pull = list.next(*pull)) {
    for (; pull->asks && pull->next_frame < pull->frames && blocks < most; blocks++) {
      const std::uint32_t left = pull->frames - pull->next_frame;
      pull_ask(s, *pull, std::min<std::uint32_t>(pull->peer->agreed.peer_pull_frames, left), 0);
    }
  }
}

// Reads frames [first, end) in the sender's memory.
bool read(State& s, const Pull& pull, std::uint32_t first, std::uint32_t end) {
  const Request& r = *pull.request;
  const std::uint64_t start = pull_frame_start(pull, first);
  const auto length = static_cast<std::uint32_t>(pull_frame_end(pull, end - 1) - start);
  const Segment place{r.segments.span().front().base + start, length};
  return s.config.direct->read(pull.peer->nic, pull.peer->endpoint, static_cast<std::uint8_t>(pull.region),
                               pull.region_generation, pull.region_offset + start, {&place, 1}, length);
}

// Goes on by frames alone, from the beginning, because the sender's memory cannot be read.
void share_end(State& s, Pull& pull) {
  pull.all.unlink();
  s.transfers.pull_list.push_back(pull);
  pull_restart(s, pull);
}

// Reads the last frames that were asked for and have not come. Returns false if that is not possible.
bool read_asked(State& s, Pull& pull) {
  std::uint32_t position = pull.block_count;
  while (position > 0 && pull.block(position - 1).missing == 0) position--;
  assert(position > 0);
  PullBlock& block = pull.block(position - 1);
  const auto last = static_cast<std::uint32_t>(63 - std::countl_zero(block.missing));
  if (!read(s, pull, block.first + last, block.first + last + 1)) return false;
  block.missing &= ~(std::uint64_t{1} << last);
  pull_expected_came(s, pull, block.first + last, 0);
  return true;
}

// Reads the last frames that were not asked for. Returns false if that is not possible.
bool read_rest(State& s, Pull& pull) {
  const std::uint32_t first = pull.frames - std::min(kStep, pull.frames - pull.next_frame);
  if (!read(s, pull, first, pull.frames)) return false;
  pull.frames = first;
  return true;
}

}  // namespace

bool share_start(State& s, Request& receive, const wire::Rndv& rndv) {
  Peer& p = *receive.peer;
  const bool fits = receive.xfer_length >= kShareLeast && receive.segments.count() == 1 &&
                    !s.config.offload && !p.rails && p.agreed.intra_node_frame > 0;
  if (!fits || !s.config.direct->awake(p.nic, p.endpoint) || !pull_slot_allowed(s, p)) return false;
  Pull* const pull = pull_create(s, receive, rndv);
  if (!pull) return false;
  pull->share = true;
  pull->asks = s.transfers.share_pace.choose();
  pull_lay_out(*pull, p.agreed.sizes.pull_reply_max);
  [[maybe_unused]] const bool got = pull_slot_acquire(s, *pull);
  assert(got);
  s.transfers.pull_sharing.push_back(*pull);
  ask(s);
  return true;
}

void share_begin(State& s) {
  Pull& pull = *s.transfers.pull_sharing.front();
  if (pull.began == 0) pull.began = s.now;
}

void share_advance(State& s, Pull& pull) {
  pull_blocks_pop(pull);
  if (pull.block_count > 0 || pull.next_frame < pull.frames) return ask(s);
  if (pull.began > 0) s.transfers.share_pace.measured(pull.asks, s.now - pull.began, pull.length);
  pull_finish(s, pull, Status::success);
  ask(s);
}

void share_step(State& s) {
  Pull& pull = *s.transfers.pull_sharing.front();
  if (!(pull.next_frame < pull.frames ? read_rest(s, pull) : read_asked(s, pull))) return share_end(s, pull);
  share_advance(s, pull);
}

}  // namespace omx::protocol
