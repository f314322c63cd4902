// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/pull_request.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "protocol/actions/coalesce_packets.h"
#include "protocol/actions/frames.h"
#include "protocol/history.h"
#include "protocol/state/bulk_awaited.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/history_note.h"
#include "protocol/state/peer.h"
#include "protocol/state/pull.h"
#include "protocol/state/pull_copy.h"
#include "protocol/state/pull_expect.h"
#include "protocol/state/pull_ports.h"
#include "protocol/state/pull_silence.h"
#include "protocol/state/pull_window.h"
#include "protocol/state/state.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

// The flags of a request beside those of any urgent frame.
enum class Ask : std::uint8_t { plain = 0, gap = wire::kFlagGap, quiet = wire::kFlagQuiet };

void request_transmit(State& s, Pull& pull, std::uint32_t first, std::uint32_t frames, Ask ask, bool again,
                      std::uint8_t rail) {
  Peer& p = *pull.peer;
  wire::Pull packet;
  packet.dst_endpoint = p.endpoint;
  packet.src_endpoint = s.config.endpoint;
  packet.flags = frame_flags(p, true);
  if (p.agreed.extended) packet.flags |= static_cast<std::uint8_t>(ask);
  if (pull.share) packet.flags |= wire::kFlagShared;
  if (pull.by_bulk && p.bulk.in) {
    packet.flags |= wire::kFlagBulk;
    s.transfers.pulls_by_bulk = true;
    if (ask == Ask::plain && s.pulling.sleeping) packet.flags |= wire::kFlagAnnounce;
  } else if (p.agreed.intra_node_frame == 0) {
    s.transfers.pulls_by_link = true;
  }
  if (!p.bulk.in && p.bulk.address.present() && !p.rails && pull.length >= kBulkBytes &&
      s.now >= bulk_trusted_from(p, &BulkDistrust::in)) {
    packet.flags |= wire::kFlagBulkProbe;
  }
  packet.session = p.reply_session();
  packet.total_length = pull.length;
  packet.rdma_id = pull.region;
  packet.rdma_seqnum = pull.region_generation;
  packet.rdma_offset = pull.region_offset;
  packet.pull_handle = pull.handle;
  packet.magic = wire::kPullMagic ^ s.config.endpoint;
  packet.first_frame_offset = first == 0 ? pull.shift : 0;
  packet.block_length =
      static_cast<std::uint32_t>(pull_frame_end(pull, first + frames - 1) - pull_frame_start(pull, first));
  packet.frame_index = first;
  packet.reply_max =
      static_cast<std::uint16_t>(p.agreed.extended && p.agreed.mode == wire::Mode::omx ? pull.unit : 0);
  Draft draft;
  const bool away = p.rails && rail != p.rails->home;
  const auto head =
      away ? rail_head(s, p, wire::PacketType::pull, rail) : frame_head(s, p, wire::PacketType::pull);
  draft.length = wire::encode_pull(draft.header, head, p.agreed.mode, packet);
  if (away) [[unlikely]]
    packet_send_by(s, p, draft, rail);
  else
    packet_send(s, p, draft);
  pull_expect(s, pull, first, frames, again, rail);
  s.count(Counter::send_pull_request)++;
}

// So small a window leaves its path idle where it waits for half of its answers.
constexpr std::uint32_t kRingsFrames = 8;

// Returns whether the end of the answer to this request should find us awake. It should when the message is
// whole then. It also should when half of what may be in flight has come, so that more is asked for or copied
// meanwhile.
bool rings(State& s, const Pull& pull, std::uint32_t frames) {
  if (!s.config.pull_quiet) return true;
  PullSchedule& schedule = s.pulling;
  const std::uint32_t left = pull.frames - pull.next_frame, allowed = pull_allowed(s);
  if (left > 0 && pull.next_frame != pull.rings_at && allowed > kRingsFrames * pull.unit) {
    // The rest is asked for at once.
    if (schedule.sleeping && left <= (pull.blocks_max - pull.block_count) * frames) return false;
    const std::uint64_t most = std::uint64_t{pull.blocks_max} * frames * pull.unit;
    if (schedule.asked - schedule.rung < std::min<std::uint64_t>(most, allowed) / 2) return false;
  }
  schedule.rung = schedule.asked;
  return true;
}

}  // namespace

// Asks again for each run of missing frames.
void pull_ask_again(State& s, Pull& pull, PullBlock& block, Counter reason) {
  assert(pull.handle != 0);
  if (!block.missing) return;
  block.repeated_again = std::exchange(block.repeated, true);
  block.asked_last = s.now;
  if (pull.peer->rails) block.asked_at = s.now;
  pull.leave = false;
  pull_repeated(s, pull);
  for (std::uint32_t i = 0; i < block.frames;) {
    if (!(block.missing >> i & 1)) {
      i++;
      continue;
    }
    std::uint32_t end = i;
    while (end < block.frames && (block.missing >> end & 1)) end++;
    request_transmit(s, pull, block.first + i, end - i,
                     reason == Counter::pull_rerequest_timer ? Ask::plain : Ask::gap, true, block.rail);
    s.count(reason)++;
    history_note(s, Happened::pull_repeated, pull.peer, pull.request->match_info, pull.length);
    i = end;
  }
}

namespace {

PullBlock& block_add(State& s, Pull& pull, std::uint32_t frames) {
  if (pull.block_count == 0) {  // the pull may have waited long for its turn
    pull.last_reply = s.now;
    pull.silent_rounds = 0;
  }
  PullBlock& block = pull.block(pull.block_count++);
  block.first = pull.next_frame;
  block.frames = frames;
  block.missing = frames == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << frames) - 1;
  block.end_missed = block.repeated = block.repeated_again = block.unscheduled = false;
  block.untouched = true;
  block.rail = 0;
  block.asked = s.pulling.asked;
  block.asked_at = block.asked_last = pull.last_asked = pull.quiet_since = s.now;
  block.passed_at = 0;
  pull.next_frame += frames;
  s.timers.arm_by(pull.timer, s.now + pull_delay(s, pull));
  return block;
}

}  // namespace

void pull_ask(State& s, Pull& pull, std::uint32_t frames, std::uint8_t rail) {
  assert(pull.handle != 0);
  assert(frames > 0);
  assert(pull.next_frame + frames <= pull.frames);
  PullBlock& block = block_add(s, pull, frames);
  block.rail = rail;
  copies_tend(s);
  request_transmit(s, pull, block.first, frames, rings(s, pull, frames) ? Ask::plain : Ask::quiet, false,
                   rail);
}

void pull_await(State& s, Pull& pull, std::uint32_t frames) {
  PullBlock& block = block_add(s, pull, frames);
  block.repeated = block.unscheduled = true;  // the time of the answer tells nothing
  if (pull.blocks_max < kPullBlocksMax) pull.blocks_max++;
  if (pull.by_bulk) {
    s.transfers.pulls_by_bulk = true;
    bulk_expected(s, *pull.peer);
  } else {
    s.transfers.pulls_by_link = true;
  }
  if (pull.peer->rails) block.rail = pull.peer->rails->home;
  pull_expect(s, pull, 0, frames, false, block.rail);
}

}  // namespace omx::protocol
