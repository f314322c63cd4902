// SPDX-License-Identifier: BSD-3-Clause
// Sends messages, from the application's call to a numbered message in the window (docs/spec/protocol.md 8).
#include "protocol/actions/send.h"

#include <cassert>

#include "protocol/actions/coalesce.h"
#include "protocol/actions/completion.h"
#include "protocol/actions/frames.h"
#include "protocol/actions/resend_timer.h"
#include "protocol/actions/send_tx.h"
#include "protocol/counters.h"
#include "protocol/history.h"
#include "protocol/state/eager_window.h"
#include "protocol/state/history_note.h"
#include "protocol/state/parked.h"
#include "protocol/state/peer.h"
#include "protocol/state/reorder_buffer.h"
#include "protocol/state/request.h"
#include "protocol/state/room.h"
#include "protocol/state/send_memory.h"
#include "protocol/state/seqnum.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "protocol/types.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

SendClass class_for(const State& s, const Peer& p, const Request& r) {
  if (r.tx.synchronous) return SendClass::large;
  if (r.msg_length <= wire::kTinyMax) return SendClass::tiny;
  if (r.msg_length <= wire::kSmallMax) return SendClass::small;
  return r.msg_length <= eager_limit(s, p) ? SendClass::medium : SendClass::large;
}

std::uint32_t frame_cost(const Peer& p, const Request& r) {
  return r.send_class == SendClass::medium ? medium_frames(p, r.msg_length) : 1;
}

std::uint32_t frame_credit(const Peer& p) {
  return p.agreed.extended ? p.agreed.eager_credit : kLegacyEagerFrames;
}

std::uint32_t number_window(const Peer& p) {
  // Numbers beyond the receiver's reorder buffer would be dropped if one before them is lost.
  return p.agreed.extended ? kReorderNumbers : kLegacyEagerFrames;
}

// From this size on, copying takes longer than a separate flush might. Such a message leaves from the user's
// memory even among others, and is copied while it is on its way.
constexpr std::uint32_t kCopyAfter = 4096;

// Copies a message that is on its way already. The copy is made in any case. Even after an exception the
// message may be sent again, and the user was told that the memory is free.
class LateCopy {
 public:
  LateCopy() = default;
  LateCopy(const LateCopy&) = delete;
  LateCopy& operator=(const LateCopy&) = delete;
  ~LateCopy() { make(); }
  void plan(State& s, Request& r) {
    memory_ = send_copy_memory(s, r);
    request_ = &r;
  }
  bool planned() const { return memory_ != nullptr; }
  void make() {
    if (memory_) send_copy_fill(*request_, memory_);
    memory_ = nullptr;
  }

 private:
  std::byte* memory_ = nullptr;
  Request* request_ = nullptr;
};

// Chooses whether and when a message is copied so that it completes at once.
void copy_choose(State& s, Peer& p, Request& r, bool at_once, LateCopy& late) {
  if (r.tx.parked) [[unlikely]]
    return park_copy(s, r);
  if (!send_copy_wanted(r)) return;
  // A lone message leaves from the user's memory. Of several messages only the last one does, because
  // messages that leave together share frames and calls.
  const bool lone = at_once ? r.msg_length > 0 : r.msg_length >= kCopyAfter;
  const bool alone = lone && !p.tx.queued.next(r);
  if (alone && r.tx.copy_later && r.msg_length >= kCopyAfter && !s.completion.uncopied)
    s.completion.uncopied = &r;
  else if (alone)
    late.plan(s, r);
  else
    send_copy_now(s, r);
}

bool is_notify(const Request& r) {
  return r.send_class == SendClass::notify && r.kind == RequestKind::receive;
}

// Returns whether the message may wait until its receiver asks for it. The application must not notice, so it
// is copied. One that completes with its acknowledgement would complete later, when a receive matches.
bool may_wait(State& s, Request& r) {
  if (r.tx.buffered || r.tx.confirmed) return true;
  if (r.tx.delivered || s.config.buffered_sends_max == 0) return false;
  std::byte* const memory = room_for_copy(s, r.msg_length);
  if (!memory) return false;
  send_copy_fill(r, memory);
  // By the time that this message leaves it may be a large one, whose receiver reads the segments.
  send_from_buffer(s, r);
  return true;
}

// Chooses how the message travels: by its size, and by envelope when those before it had to. Returns whether
// it waits for its receiver because of congestion.
bool class_choose(State& s, const Peer& p, Request& r) {
  r.send_class = class_for(s, p, r);
  r.tx.parked = r.send_class != SendClass::large && park_defers(s, p);
  const bool deferred = r.send_class == SendClass::medium && !r.tx.parked && eager_defers(p, r) &&
                        peer_reads_parked(p) && may_wait(s, r);
  r.tx.parked |= deferred;
  if (r.tx.parked) [[unlikely]]
    r.send_class = SendClass::large;
  r.tx.frames = static_cast<std::uint8_t>(frame_cost(p, r));
  return deferred;
}

bool credit_left(State& s, Peer& p, const Request& r) {
  if (r.send_class == SendClass::medium && !p.tx.eager && p.tx.frames_unacked > 0) eager_try(s, p, r);
  if (p.tx.eager && !eager_room(p, r)) [[unlikely]]
    return false;
  return p.tx.frames_unacked == 0 || p.tx.frames_unacked + r.tx.frames <= frame_credit(p);
}

// Takes a region for a large message. Returns false when all regions are in use, and the peer waits for one.
bool region_take(State& s, Peer& p, Request& r) {
  if (r.send_class != SendClass::large || park_region(s, r)) return true;
  s.region_waiters.add(p);
  retransmit_arm(s, p);  // nothing else may watch whether the peer lives
  return false;
}

// Gives the request the next number.
void number_give(State& s, Peer& p, Request& r) {
  assert(r.phase == Phase::queued);
  r.queue.unlink();
  r.seqnum = p.counting.next_send;
  p.counting.next_send = seq_add(p.counting.next_send, 1);
  p.tx.frames_unacked += r.tx.frames;
  if (p.tx.eager) [[unlikely]]
    eager_left(p, r);
  p.tx.unacked.push_back(r);
  r.phase = Phase::unacked;
  r.first_sent = s.now;
}

// Completes a message for the user as soon as it has left, if nothing else is waited for.
void user_tell(State& s, Request& r, bool notify) {
  if (notify) {
    request_user_done(s, r, r.status);
  } else if (r.tx.buffered && !r.tx.delivered && !r.tx.synchronous) {
    r.xfer_length = r.msg_length;
    request_user_done(s, r, Status::success);
  }
}

// Sends what is queued, in these steps:
//  step          message                                   NOTIFY
//  window        kReorderNumbers, or the reference's       kSendWindow
//  class         by size; large when parked                notify
//  credit        frames that the peer can hold             one frame, always
//  region        a large one's                             none
//  copy          none, now, while on its way, later        none
// A step for which nothing is left leaves the queue as it is.
void pump(State& s, Peer& p, bool at_once) {
  while (Request* r = p.tx.queued.front()) {
    const bool notify = is_notify(*r);
    LateCopy late;
    if (p.outstanding() >= (notify ? kSendWindow : number_window(p))) return;
    if (notify) {
      if (--p.tx.notifies_queued == 0) p.tx.last_notify = nullptr;
      r->tx.frames = 1;
    } else if (r->needs_ext() && !p.carries_ext()) {  // the peer changed while it waited
      r->queue.unlink();
      request_finish(s, *r, Status::rejected);
      continue;
    } else {
      const bool deferred = class_choose(s, p, *r);
      if (!credit_left(s, p, *r) || !region_take(s, p, *r)) return;
      if (deferred) [[unlikely]]
        s.count(Counter::eager_deferred)++;
      copy_choose(s, p, *r, at_once, late);
    }
    number_give(s, p, *r);
    send_transmit(s, *r);
    if (p.parking.park_next > 0) [[unlikely]]
      park_counted(s, p, *r);
    if (!notify) history_note(s, Happened::sent, &p, r->match_info, r->msg_length, r->seqnum);
    // Work that need not be done before a message leaves is done while the message is on its way.
    if (at_once || late.planned() || s.completion.uncopied == r) frames_leave(s);
    late.make();
    retransmit_arm(s, p);
    user_tell(s, *r, notify);
  }
}

}  // namespace

void send_copy(State& s) {
  assert(s.completion.uncopied);
  Request& r = *s.completion.uncopied;
  s.completion.uncopied = nullptr;
  if (!send_copy_now(s, r)) return;  // completes when it is acknowledged
  r.xfer_length = r.msg_length;
  request_user_done(s, r, Status::success);
}

void send_pump(State& s, Peer& p, bool at_once) {
  Request* first = p.tx.queued.front();
  if (!first) return;
  if (p.held_back()) return retransmit_arm(s, p);
  // Messages that waited for the window leave together.
  const bool several = !s.coalescing.allowed && p.tx.queued.next(*first);
  if (!several) return pump(s, p, at_once);
  {
    const MayCoalesce may(s, true);
    pump(s, p, false);
  }
  coalesce_release(s);
}

void send_queue_notify(State& s, Request& receive) {
  assert(receive.kind == RequestKind::receive);
  assert(!receive.queue.linked());
  Peer& p = *receive.peer;
  receive.send_class = SendClass::notify;
  receive.phase = Phase::queued;
  receive.first_sent = s.now;
  // A NOTIFY goes ahead of messages, behind earlier NOTIFYs.
  Request* position = p.tx.last_notify ? p.tx.queued.next(*p.tx.last_notify) : p.tx.queued.front();
  if (position)
    p.tx.queued.insert_before(*position, receive);
  else
    p.tx.queued.push_back(receive);
  p.tx.last_notify = &receive;
  p.tx.notifies_queued++;
  send_pump(s, p);
}

}  // namespace omx::protocol
