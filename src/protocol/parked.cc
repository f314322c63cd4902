// SPDX-License-Identifier: BSD-3-Clause
// Parked messages (docs/reference/wire.md 19). A receiver without room for the data of an eager message asks
// for its envelope alone, and for those of the messages behind it: they come again as RNDVs under their
// numbers, whose data stay with the sender until receives match. So no message waits for the room that
// another one takes, in whatever order receives are posted.
//
// Once a receiver has asked, it takes nothing else under these numbers: the sender may have changed the
// messages already, and would wait for a NOTIFY if an old copy of the data were delivered.

#include <algorithm>
#include <utility>

#include "protocol/endpoint.h"
#include "protocol/state.h"

namespace omx::protocol {

namespace {

// That one TRUC asks for: all that may be under way.
constexpr std::uint16_t kRange = kEarlyWindow;
// So many messages go as envelopes before the next one tries whether there is room again.
constexpr std::uint16_t kTrialFirst = 64, kTrialMost = 1024;

bool reads_it(const Partner& p) {
  return (p.features & wire::kFeaturePark) && p.mode == wire::Mode::omx;
}

bool eager(const Request& r) {
  return r.kind == RequestKind::send && r.send_class != SendClass::large && r.send_class != SendClass::notify;
}

}  // namespace

// --- the receiver ------------------------------------------------------------------------------------------

bool park_waits(const Partner& p) {
  return p.park_asked;
}

void park_told(State& s, Partner& p) {
  p.park_asked = false;
  p.park_range = kRange;
  early_drop_data(s, p);
}

void park_refused(State& s, Partner& p) {
  held_up_note(s, p, HeldUp::What::data, s.buffers.limit());
  if (s.config.parks && reads_it(p)) p.park_asked = true;
}

void park_taken_up(State& s, Partner& p, wire::PacketType type) {
  if (type == wire::PacketType::rndv) s.count(Counter::recv_parked)++;
  p.park_range--;
}

void park_forget(Partner& p) {
  p.park_asked = false;
  p.park_range = 0;
  p.park_left = p.park_next = 0;
}

// --- the sender --------------------------------------------------------------------------------------------

bool park_region(State& s, Request& r) {
  return s.regions.acquire(r, s.config.parks && reads_it(*r.partner));
}

bool park_defers(const State& s, const Partner& p) {
  return p.park_left > 0 && s.config.parks && reads_it(p);
}

void park_counted(State& s, Partner& p, const Request& r) {
  if (r.parked) {
    s.count(Counter::send_parked)++;
    if (p.park_left > 0) p.park_left--;
  } else if (eager(r)) {
    p.park_left = p.park_next;
  }
}

void park_taken(Partner& p) {
  p.park_next /= 2;
  if (p.park_next < kTrialFirst) p.park_next = p.park_left = 0;
}

namespace {

// The copy, if there is one, is what the peer will fetch.
void send_from_buffer(State& s, Request& r) {
  if (!r.buffer) return;
  const Segment own{r.buffer, r.msg_length};
  r.segments.clear(s.segment_lists);
  r.segments.assign({&own, 1}, s.segment_lists);  // one segment needs no memory
}

}  // namespace

void park_copy(State& s, Request& r) {
  const bool early = !r.delivered && !r.synchronous && s.config.zombie_max > 0;
  if (!r.buffered && early) send_buffer(s, r);
  send_from_buffer(s, r);
}

namespace {

void park(State& s, Partner& p, Request& r) {
  if (s.uncopied == &r) send_copy(s);
  if (!park_region(s, r)) return;  // no memory: it is asked for again
  lane_medium_done(s, p, r);
  park_copy(s, r);
  p.frames_unacked -= r.frames - 1U;
  r.frames = 1;
  r.by_lane = r.lost = r.sacked = false;
  r.send_class = SendClass::large;
  r.parked = true;
  if (r.resends < 0xFFFF) r.resends++;
  r.last_sent = s.now;
  s.count(Counter::send_parked)++;
  history_note(s, Happened::parked, &p, r.match_info, r.msg_length, r.seqnum);
  rndv_transmit(s, r);
  if (!r.buffered || r.delivered || r.user_done) return;
  r.xfer_length = r.msg_length;
  request_user_done(s, r, Status::success);
}

// What was sent behind a message that had no room had probably none either: nothing is kept early then.
void send_behind(State& s, Request& r) {
  if (r.sacked) return;
  if (r.resends < 0xFFFF) r.resends++;
  r.last_sent = s.now;
  r.lost = false;
  s.count(Counter::resend_sack)++;
  if (r.kind == RequestKind::receive)
    notify_transmit(s, r);
  else
    rndv_transmit(s, r);
}

}  // namespace

void park_unacked(State& s, Partner& p) {
  if (!reads_it(p)) return;
  bool any = false;
  for (Request* r = p.unacked.front(); r; r = p.unacked.next(*r)) {
    if (seq_diff(r->seqnum, p.next_acked) >= kRange) break;
    if (eager(*r)) {
      park(s, p, *r);
      any = true;
    } else if (any) {
      send_behind(s, *r);
    }
  }
  if (!any) return;
  if (p.park_left == 0)
    p.park_next = std::clamp(static_cast<std::uint16_t>(p.park_next * 2), kTrialFirst, kTrialMost);
  // Later messages that get one of the asked numbers must be envelopes as well.
  const std::uint32_t ahead = p.outstanding() < kRange ? kRange - p.outstanding() : 0;
  p.park_left = static_cast<std::uint16_t>(std::max<std::uint32_t>(p.park_next, ahead));
  send_pump(s, p);  // they take less of the window
}

void park_waiting(State& s, Request& r) {
  if (r.user_done) s.zombies--;
  r.waits = true;
  // The peer has just shown that it lives, and nothing else was waited for.
  if (!r.user_done && r.parked && r.confirmed && send_buffer(s, r)) {
    send_from_buffer(s, r);
    r.xfer_length = r.msg_length;
    request_user_done(s, r, Status::success);
  }
  if (!r.user_done) s.room.awaiting++;
  if (r.buffer) s.room.parked_bytes += BufferPool::capacity_of(r.buffer_size);
}

HeldUp Endpoint::held_up_take() {
  return std::exchange(state_->room.held_up, {});
}

std::uint32_t Endpoint::awaiting_receives() const {
  return state_->room.awaiting;
}

}  // namespace omx::protocol
