// SPDX-License-Identifier: BSD-3-Clause
// The receiver's side of a large message: asks for blocks of frames, several in flight, asks again for what
// is missing, and ends with NOTIFY (docs/spec/protocol.md 8.2, 8.3).
#include <algorithm>
#include <cassert>
#include <utility>

#include "base/bytes.h"
#include "protocol/direct.h"
#include "protocol/news.h"
#include "protocol/offload.h"
#include "protocol/state.h"

namespace omx::protocol {

namespace {

constexpr std::uint32_t kGenerationMask = 0x3FFFFF;
constexpr unsigned kSlotShift = 22;
constexpr std::uint32_t kBulkBytes = 32 * 1024;  // from here on a pull is worth a lane of its own
constexpr std::uint32_t kSilentRoundsLane = 2;   // then the lane is suspected
constexpr std::uint32_t kSilentRoundsMtu = 5;    // then large frames are

TimeNs pull_delay(const State& s, const Pull& pull) {
  const bool extended = pull.partner->extended;
  const TimeNs base = pull.partner->rails ? rails_patience(s, *pull.partner)
                      : extended          ? pull_patience(s, *pull.partner)
                                          : s.config.pull_delay;
  return std::min(base << std::min<std::uint32_t>(pull.silent_rounds, 16),
                  std::max(base, s.config.resend_delay_max));
}

// Since when the pull is silent. A sender answers in the order in which it was asked: while it still answers
// what it was asked for before, it has not come to this.
TimeNs silent_since(Pull& pull) {
  const Partner& p = *pull.partner;
  const TimeNs asked = std::max(pull.last_reply, pull.last_asked);
  const PullBlock& oldest = pull.block(0);
  const bool its_turn_comes = oldest.untouched && !oldest.repeated && oldest.asked > p.pull_answered;
  return p.extended && its_turn_comes ? std::max(asked, p.pull_heard) : asked;
}

// The flags of a request beside those of any urgent frame.
enum class Ask : std::uint8_t { plain = 0, gap = wire::kFlagGap, quiet = wire::kFlagQuiet };

void request_transmit(State& s, Pull& pull, std::uint32_t first, std::uint32_t frames, Ask ask, bool again,
                      std::uint8_t rail) {
  Partner& p = *pull.partner;
  wire::Pull packet;
  packet.dst_endpoint = p.endpoint;
  packet.src_endpoint = s.config.endpoint;
  packet.flags = frame_flags(p, true);
  if (p.extended) packet.flags |= static_cast<std::uint8_t>(ask);
  if (pull.by_lane && p.lane_in) {
    packet.flags |= wire::kFlagLane;
    s.pulls_by_lane = true;
    if (ask == Ask::plain && s.pulling.drowsy) packet.flags |= wire::kFlagBell;
  } else if (p.near_frame == 0) {
    s.pulls_by_link = true;
  }
  if (!p.lane_in && p.lane.present() && !p.rails && pull.length >= kLaneBytes &&
      s.now >= p.lane_in_trust.from) {
    packet.flags |= wire::kFlagLaneProbe;
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
  packet.reply_max = static_cast<std::uint16_t>(p.extended && p.mode == wire::Mode::omx ? pull.unit : 0);
  Draft draft;
  const bool away = p.rails && rail != p.rails->home;
  const auto head =
      away ? rail_head(s, p, wire::PacketType::pull, rail) : frame_head(s, p, wire::PacketType::pull);
  draft.length = wire::encode_pull(draft.header, head, p.mode, packet);
  if (away) [[unlikely]]
    packet_send_by(s, p, draft, rail);
  else
    packet_send(s, p, draft);
  pull_expect(s, pull, first, frames, again, rail);
  s.count(Counter::send_pull_request)++;
}

// Whether the end of the answer that is asked for now should find us awake: the message is whole, or half of
// what may be in flight has come and more should be asked for, or is to be copied while the rest comes.
bool rings(State& s, const Pull& pull, std::uint32_t frames) {
  PullSchedule& schedule = s.pulling;
  const std::uint32_t left = pull.frames - pull.next_frame;
  if (left > 0 && pull.next_frame != pull.rings_at) {
    // The rest is asked for at once.
    if (schedule.drowsy && left <= (pull.blocks_max - pull.block_count) * frames) return false;
    const std::uint64_t most = std::uint64_t{pull.blocks_max} * frames * pull.unit;
    if (schedule.asked - schedule.rung < std::min<std::uint64_t>(most, pull_allowed(s)) / 2) return false;
  }
  schedule.rung = schedule.asked;
  return true;
}

}  // namespace

// Asks again for each run of missing frames.
void pull_ask_again(State& s, Pull& pull, PullBlock& block, Counter reason) {
  if (!block.missing) return;
  block.repeated_again = std::exchange(block.repeated, true);
  block.asked_last = s.now;
  if (pull.partner->rails) block.asked_at = s.now;
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
    history_note(s, Happened::pull_repeated, pull.partner, pull.request->match_info, pull.length);
    i = end;
  }
}

namespace {

// Geometry from the partner's present sizes; starts from the first byte. `rndv`: it has come just now.
void transfer_begin(State& s, Pull& pull, const wire::Rndv* rndv = nullptr) {
  const Partner& p = *pull.partner;
  pull.by_lane = s.config.lane_pulls && p.lane_in && pull.length >= kLaneBytes && !p.rails;
  pull.unit = pull.by_lane ? lane_sizes(s, p).pull_reply_max : p.sizes.pull_reply_max;
  if (!pull.by_lane && pull.length >= kBulkBytes) {
    s.bulk_seen = true;
    if (p.near_frame == 0) pull_pace_begin(s, pull);
  }
  pull.shift = pull.region_offset % pull.unit;
  pull.frames =
      static_cast<std::uint32_t>((std::uint64_t{pull.length} + pull.shift + pull.unit - 1) / pull.unit);
  pull.blocks_max = pull_blocks(s);
  if (pull_striped(pull)) {
    pull.blocks_max = kPullBlocksStriped;
    rails_tend(s, *pull.partner);
  }
  pull.next_frame = 0;
  pull.first_block = pull.block_count = 0;
  pull.blocks = {};
  pull.leave = rndv != nullptr;
  if (const std::uint32_t frames = rndv ? unasked_expect(s, pull, *rndv) : 0; frames > 0)
    pull_await_first(s, pull, frames);
  pull_ring_midway(s, pull);
  pull_want(s, pull);
}

// One partner takes no more handles than it leaves free: the pulls of others go on.
bool slot_allowed(const State& s, const Partner& p) {
  const std::size_t free = kPullSlots - s.pull_slots.size() + s.pull_free.size();
  return p.pulls_running < free;
}

bool slot_acquire(State& s, Pull& pull) {
  if (s.pull_free.empty()) {
    if (s.pull_slots.size() == kPullSlots) return false;
    s.pull_free.push_back(static_cast<std::uint16_t>(s.pull_slots.size()));
    // A reply names no session: late ones for our last instance are told by the handle alone.
    s.pull_slots.push_back({nullptr, ((s.config.session * 0x9E3779B1U) >> 10) | 1});
  }
  const std::uint16_t slot = s.pull_free.back();
  s.pull_free.pop_back();
  s.pull_slots[slot].pull = &pull;
  pull.handle = (static_cast<std::uint32_t>(slot) << kSlotShift) | s.pull_slots[slot].generation;
  pull_enter(s, pull);
  return true;
}

void slot_release(State& s, Pull& pull) {
  pull.unasked_hook.unlink();
  pull_leave(s, pull);
  if (s.pulling.senders == 0) s.pulls_by_lane = s.pulls_by_link = false;
  const std::uint32_t index = pull.handle >> kSlotShift;
  PullSlot& slot = s.pull_slots[index];
  slot.pull = nullptr;
  pull.handle = 0;
  slot.generation = (slot.generation + 1) & kGenerationMask;
  if (slot.generation == 0) slot.generation = 1;  // handle 0 means none
  s.pull_free.push_back(static_cast<std::uint16_t>(index));
}

bool waiting(const Pull& pull) {
  return pull.handle == 0;
}

void pull_free(State& s, Pull& pull) {
  pull.all.unlink();
  s.timers.cancel(pull.timer);
  pull.partner->pulls--;
  pull.request->pull = nullptr;
  if (!waiting(pull)) slot_release(s, pull);
  s.pulls.destroy(&pull);
}

void start_waiting(State& s) {
  for (Pull* pull = s.pull_waiting.front(); pull;) {
    Pull* next = s.pull_waiting.next(*pull);
    if (slot_allowed(s, *pull->partner)) {
      if (!slot_acquire(s, *pull)) break;
      pull->all.unlink();
      s.pull_list.push_back(*pull);
      transfer_begin(s, *pull);
    }
    pull = next;
  }
  pulls_ask(s);
}

// The end of the transfer: tells the sender.
void large_received(State& s, Request& r, Status status, std::uint32_t length, bool leave) {
  r.leave = leave;
  const bool success = status == Status::success;
  r.notify_length = success ? length : 0;
  if (!success) r.xfer_length = 0;
  r.status = success && r.xfer_length < r.msg_length ? Status::truncated : status;
  if (success) {
    receive_count(s, r);
    history_note(s, Happened::pulled, r.partner, r.match_info, r.msg_length);
  }
  if (r.partner->reply_session() == wire::kUnknownSession)
    request_finish(s, r, r.status);
  else
    send_queue_notify(s, r);
}

// Without a single frame.
bool read_directly(State& s, Request& receive, const wire::Rndv& rndv) {
  const Partner& p = *receive.partner;
  if (!s.config.direct->read(p.nic, p.endpoint, rndv.rdma_id, rndv.rdma_seqnum, rndv.rdma_offset,
                             receive.segments.span(), receive.xfer_length))
    return false;
  large_received(s, receive, Status::success, receive.xfer_length, false);
  return true;
}

PullBlock& block_add(State& s, Pull& pull, std::uint32_t frames) {
  if (pull.block_count == 0) {  // it may have waited long for its turn
    pull.last_reply = s.now;
    pull.silent_rounds = 0;
  }
  PullBlock& block = pull.block(pull.block_count++);
  block.first = pull.next_frame;
  block.frames = frames;
  block.missing = frames == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << frames) - 1;
  block.end_missed = block.repeated = block.repeated_again = false;
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
  PullBlock& block = block_add(s, pull, frames);
  block.rail = rail;
  copies_tend(s);
  request_transmit(s, pull, block.first, frames, rings(s, pull, frames) ? Ask::plain : Ask::quiet, false,
                   rail);
}

void pull_await(State& s, Pull& pull, std::uint32_t frames) {
  PullBlock& block = block_add(s, pull, frames);
  block.repeated = true;  // how long it takes tells nothing
  if (pull.blocks_max < kPullBlocksMax) pull.blocks_max++;
  if (pull.by_lane) {
    s.pulls_by_lane = true;
    lane_announced(s, *pull.partner, std::nullopt);
  } else {
    s.pulls_by_link = true;
  }
  if (pull.partner->rails) block.rail = pull.partner->rails->home;
  pull_expect(s, pull, 0, frames, false, block.rail);
}

void pull_start(State& s, Request& receive, const wire::Rndv& rndv, const std::byte* tail) {
  // The memory of other pages is not published.
  if (s.config.direct && rndv.page == 0 && read_directly(s, receive, rndv)) return;
  Pull* pull = s.pulls.create();
  if (!pull) {  // the sender must not wait for ever
    receive.xfer_length = receive.notify_length = 0;
    receive.status = Status::no_resources;
    return send_queue_notify(s, receive);
  }
  pull->request = &receive;
  pull->partner = receive.partner;
  pull->partner->pulls++;
  pull->age = ++s.pull_age;
  pull->region = rndv.rdma_id | std::uint32_t{rndv.page} << 8;
  pull->region_generation = rndv.rdma_seqnum;
  pull->region_offset = rndv.rdma_offset;
  pull->length = receive.xfer_length;
  if (tail && receive.xfer_length == receive.msg_length && rndv.tail < pull->length) {
    pull->length -= rndv.tail;
    pull->tail = rndv.tail;
    receive.segments.write(pull->length, tail, rndv.tail);
  }
  receive.pull = pull;
  if (!slot_allowed(s, *pull->partner) || !slot_acquire(s, *pull)) {
    s.pull_waiting.push_back(*pull);
    return;
  }
  s.pull_list.push_back(*pull);
  transfer_begin(s, *pull, tail ? &rndv : nullptr);
  pulls_ask(s);
}

void pull_finish(State& s, Pull& pull, Status status) {
  if (pull_waits_for_copies(s, pull, status)) {
    if (waiting(pull)) return;
    slot_release(s, pull);
    s.timers.cancel(pull.timer);
    pull.all.unlink();
    s.pull_copying.push_back(pull);
    return start_waiting(s);
  }
  Request& r = *pull.request;
  const std::uint32_t length = pull.length + pull.tail;
  const bool leave = unasked_leave(s, *pull.partner, pull.leave);
  pull_free(s, pull);
  large_received(s, r, status, length, leave);
  start_waiting(s);
}

void pulls_fail(State& s, Partner& p, Status status) {
  if (p.pulls > 0 && s.config.offload) s.config.offload->drain();
  for (auto* list : {&s.pull_list, &s.pull_waiting, &s.pull_copying}) {
    for (Pull* pull = list->front(); pull && p.pulls > 0;) {
      Pull* next = list->next(*pull);
      if (pull->partner == &p) {
        Request& r = *pull->request;
        r.xfer_length = 0;
        s.ending_failed++;
        pull_free(s, *pull);
        request_finish(s, r, status);
      }
      pull = next;
    }
  }
  if (!s.closing) start_waiting(s);
}

Pull* pull_of_slot(State& s, std::uint32_t handle) {
  const std::uint32_t slot = handle >> kSlotShift;
  return slot < s.pull_slots.size() ? s.pull_slots[slot].pull : nullptr;
}

Pull* pull_of_handle(State& s, std::uint32_t handle) {
  Pull* pull = pull_of_slot(s, handle);
  return pull && pull->handle == handle ? pull : nullptr;
}

Pull* pull_of(State& s, const wire::Head& head, wire::Frame frame) {
  const std::uint32_t handle = load_be32(frame.data() + 24), magic = load_be32(frame.data() + 28);
  if (magic != (wire::kPullMagic ^ s.config.endpoint)) return nullptr;
  Pull* pull = pull_of_handle(s, handle);
  return pull && pull->partner->nic == head.src ? pull : nullptr;
}

void pull_nacked(State& s, const wire::Head& head, wire::Frame frame) {
  Pull* pull = pull_of(s, head, frame);
  if (!pull) {
    s.count(Counter::drop_pull_reply_bad_handle)++;
    return;
  }
  if (!rx_checksum_ok(s, pull->partner, frame)) return;
  wire::NackMcp packet;
  if (const auto drop = wire::decode_nack_mcp(frame, pull->partner->extended, packet);
      drop != wire::Drop::none)
    return rx_drop(s, drop);
  const Status status = nack_status(packet.code);
  if (status == Status::pending) return;
  s.count(Counter::recv_nack_mcp)++;
  pull_finish(s, *pull, status);
}

void pull_timer(State& s, Pull& pull) {
  Partner& p = *pull.partner;
  if (pull.block_count == 0) return;  // it waits for its turn
  copies_tend(s);
  // Inactivity, not total time, ends a pull (docs/spec/protocol.md 8.3 [DO]). Only what answers this pull
  // counts: a partner that talks otherwise may still never serve it. It must have been asked in vain, and
  // lately: see retransmit.cc.
  const TimeNs timeout = pull.request->timeout;
  // A peer that was heard since then is given up when it has been silent for as long, though no answer comes
  // for twice as long only from a peer that does not mean to answer.
  const TimeNs heard = std::clamp(p.last_heard, pull.last_reply, time_add(pull.last_reply, timeout));
  const TimeNs limit = time_add(heard, timeout);
  const TimeNs asked = silent_since(pull);
  // Even a partner that does not run all the time has had time to answer by then.
  const TimeNs time = std::min(s.config.resend_delay_extended,
                               std::max(s.config.resend_delay_max, s.config.pull_patience_least));
  if (s.now >= limit && pull.silent_rounds >= 2 && s.now >= asked + time &&
      s.now <= asked + 2 * pull_delay(s, pull)) {
    // The rest of the message will not come, so nothing behind it may.
    s.count(Counter::pull_timeout)++;
    partner_cleanup(s, p, Cleanup::given_up);
    return;
  }
  TimeNs told = kNever;
  news_silence_check(s, p, told);
  pull_passed_check(s, pull);
  if (s.now < asked + pull_delay(s, pull)) {
    s.timers.arm_by(pull.timer, std::min(asked + pull_delay(s, pull), limit > s.now ? limit : kNever));
    return;
  }
  pull.silent_rounds++;
  const bool lane = pull.by_lane && p.lane_in && pull.silent_rounds >= kSilentRoundsLane;
  const bool large =
      pull.silent_rounds >= kSilentRoundsMtu && p.extended && p.larger_frames_than(s.config.base_frame);
  // They are suspected only while small frames by the link get through.
  if ((lane || large) && p.last_heard <= pull.last_asked) {
    connect_ping(s, p);
  } else {
    if (lane) lane_in_fails(s, p);
    if (large) probe_fall_back(s, p);
  }
  pull.last_asked = s.now;
  // The frame size changed: start over with another handle. Each PULL of ours names its size, so only smaller
  // ones matter there.
  const bool named = p.extended && p.mode == wire::Mode::omx;
  const bool fits = pull.by_lane && p.lane_in;
  if (fits    ? pull.unit != lane_sizes(s, p).pull_reply_max
      : named ? pull.unit > p.sizes.pull_reply_max
              : pull.unit != p.sizes.pull_reply_max) {
    slot_release(s, pull);
    [[maybe_unused]] const bool got = slot_acquire(s, pull);
    assert(got);
    pull.silent_rounds = 0;
    transfer_begin(s, pull);
    return pulls_ask(s);
  }
  if (p.rails) rails_tend(s, p);
  const bool later = partner_reads_later(s, p);
  for (std::uint32_t i = 0; i < pull.block_count && !later; i++) {
    PullBlock& block = pull.block(i);
    // A partner that answers nothing at all may just not run; and one that stopped in the middle, too. When
    // it is the only one, what is in its own link's way shows as gaps.
    const bool answers = !block.untouched || p.last_heard > block.asked_at;
    const bool congestion = s.pulling.senders > 1 && answers;
    if (block.missing && congestion) pull_lost(s, pull, block);
    if (block.missing && answers) pull_ahead_lost(s, block);
    if (p.rails) {
      if (block.missing) rails_late(s, pull, block);
      continue;
    }
    // Where much was lost, asking for all of it at once would lose it again.
    if (answers && i > 0 && s.pulling.port(block.rail).in_flight > pull_allowed(s, block.rail)) continue;
    pull_ask_again(s, pull, block, Counter::pull_rerequest_timer);
    block.asked = s.pulling.asked;  // if this is lost, too, it is another loss
  }
  s.timers.arm_by(pull.timer, std::min(s.now + pull_delay(s, pull), limit > s.now ? limit : kNever));
}

}  // namespace omx::protocol
