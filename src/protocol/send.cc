// SPDX-License-Identifier: BSD-3-Clause
// Sending: from the application's call to a numbered message in the window (docs/spec/protocol.md 8).
#include <cassert>
#include <limits>

#include "protocol/state.h"

namespace omx::protocol {

namespace {

SendClass class_for(const State& s, const Partner& p, const Request& r) {
  if (r.synchronous) return SendClass::large;
  if (r.msg_length <= wire::kTinyMax) return SendClass::tiny;
  if (r.msg_length <= wire::kSmallMax) return SendClass::small;
  return r.msg_length <= eager_limit(s, p) ? SendClass::medium : SendClass::large;
}

std::uint32_t frame_cost(const Partner& p, const Request& r) {
  if (r.send_class != SendClass::medium) return 1;
  return (r.msg_length + medium_unit(p) - 1) / medium_unit(p);
}

std::uint32_t frame_credit(const Partner& p) {
  return p.extended ? p.eager_credit : kReferenceEagerFrames;
}

std::uint32_t number_window(const Partner& p) {
  // Numbers beyond the receiver's early window would be dropped if one before them is lost.
  return p.extended ? kEarlyWindow : kReferenceEagerFrames;
}

// From so many bytes on, copying takes longer than a flush of its own might: among others, too, such a
// message leaves from the user's memory, and is copied while it is on its way.
constexpr std::uint32_t kCopyAfter = 4096;

// How long a peer that was heard is taken to be there.
constexpr TimeNs kHeardLately = 1'000 * kMillisecond;

// Memory for a copy, so that the user may have the own back at once; nullptr: none, or too much waits for
// acknowledgements.
std::byte* buffer_get(State& s, const Request& r) {
  if (s.zombies >= s.config.zombie_max) return nullptr;
  const std::size_t after = s.send_buffers.in_use() + BufferPool::capacity_of(r.msg_length);
  return after <= s.config.send_buffer_bytes + s.room.parked_bytes ? room_for_copy(s, r.msg_length) : nullptr;
}

void buffer_fill(Request& r, std::byte* memory) {
  r.segments.read(0, memory, r.msg_length);
  r.buffer = memory;
  r.buffer_size = r.msg_length;
  r.buffered = true;
}

bool buffer(State& s, Request& r) {
  if (r.msg_length == 0) {
    r.buffered = s.zombies < s.config.zombie_max;
  } else if (std::byte* memory = buffer_get(s, r)) {
    buffer_fill(r, memory);
  }
  return r.buffered;
}

bool to_buffer(const Request& r) {
  return r.send_class != SendClass::large && !r.buffered && !r.delivered;
}

// The copy of a message that is on its way by then. It is made in any case: after an exception, too, the
// message may be sent again, and the user was told that the memory is free.
class LateCopy {
 public:
  LateCopy() = default;
  LateCopy(const LateCopy&) = delete;
  LateCopy& operator=(const LateCopy&) = delete;
  ~LateCopy() { make(); }
  void plan(State& s, Request& r) {
    memory_ = buffer_get(s, r);
    request_ = &r;
  }
  bool planned() const { return memory_ != nullptr; }
  void make() {
    if (memory_) buffer_fill(*request_, memory_);
    memory_ = nullptr;
  }

 private:
  std::byte* memory_ = nullptr;
  Request* request_ = nullptr;
};

void transmit(State& s, Request& r) {
  r.last_sent = s.now;
  const bool short_one = r.send_class == SendClass::tiny || r.send_class == SendClass::small;
  if (short_one && pack_add(s, r)) return;
  const bool gathers = r.send_class == SendClass::large || r.send_class == SendClass::notify;
  if (s.packing.partner == r.partner && !(gathers && s.packing.packets)) pack_release(s);  // not overtaken
  switch (r.send_class) {
    case SendClass::tiny:
    case SendClass::small:
      eager_transmit(s, r);
      break;
    case SendClass::medium:
      medium_transmit(s, r);
      break;
    case SendClass::large:
      rndv_transmit(s, r);
      break;
    case SendClass::notify:
      notify_transmit(s, r);
      break;
  }
}

}  // namespace

namespace {

// The data become our own at once, even those that are pulled later. False: no memory for them.
bool inject(State& s, Request& r) {
  if (!send_buffer(s, r)) return false;
  const Segment own{r.buffer, r.msg_length};
  r.segments.clear(s.segment_lists);
  r.segments.assign({&own, 1}, s.segment_lists);  // one segment needs no memory
  return true;
}

}  // namespace

bool send_buffer(State& s, Request& r) {
  if (std::byte* memory = r.msg_length > 0 ? room_for_copy(s, r.msg_length) : nullptr) {
    buffer_fill(r, memory);
  } else if (r.msg_length > 0) {
    held_up_note(s, *r.partner, HeldUp::What::copies, s.send_buffers.limit());
    return false;
  }
  return r.buffered = true;
}

void send_release_buffer(State& s, Request& r) {
  if (!r.buffer) return;
  if (r.waits) s.room.parked_bytes -= BufferPool::capacity_of(r.buffer_size);
  s.send_buffers.put(r.buffer, r.buffer_size);
  r.buffer = nullptr;
  room_left_by_copy(s);
}

Expected<Request*, OpError> send_start(State& s, const SendOp& op) {
  if (op.segments.size() > kMaxSegments) return tl::make_unexpected(OpError::bad_segment_count);
  std::uint64_t length = 0;
  for (const Segment& seg : op.segments) length += seg.length;
  if (!op.partner || length > std::numeric_limits<std::uint32_t>::max())
    return tl::make_unexpected(OpError::bad_request);
  Request* r = request_create(s, RequestKind::send);
  if (!r) return tl::make_unexpected(OpError::no_resources);
  if (!r->segments.assign(op.segments, s.segment_lists)) {
    s.requests.destroy(r);
    return tl::make_unexpected(OpError::no_resources);
  }
  Partner& p = *op.partner;
  r->partner = &p;
  r->session = op.session;
  r->match_info = op.match_info;
  r->context = op.context;
  r->synchronous = op.synchronous;
  r->user_gone = op.forgotten;
  r->message_class = op.message_class;
  r->copy_later = op.copy_later && !op.forgotten;
  r->has_data = op.has_data;
  r->data = op.data;
  r->msg_length = static_cast<std::uint32_t>(length);
  // A peer that was silent for a second may be gone. A send to it completes when the peer acknowledges it.
  r->confirmed = op.confirmed && !op.delivered && s.now - p.last_heard > kHeardLately;
  r->delivered = op.delivered || r->confirmed;
  if (op.inject && !inject(s, *r)) {
    r->segments.clear(s.segment_lists);
    s.requests.destroy(r);
    return tl::make_unexpected(OpError::no_resources);
  }
  Request* const handle = op.forgotten ? nullptr : r;
  s.count(Counter::messages_sent)++;
  s.count(Counter::bytes_sent) += length;
  p.messages_sent++;
  p.bytes_sent += length;

  if (p.self) {
    self_send(s, *r);
    return handle;
  }
  // An address of an instance that is gone, or of one that was given up.
  r->conversation = p.conversation;
  const bool other = op.session != wire::kUnknownSession && op.session != p.true_session;
  const bool over = op.conversation != 0 && op.conversation != p.conversation;
  if (!p.connected() || other || over) {
    request_finish(s, *r, p.connected() && other ? Status::bad_session : p.gone);
    return handle;
  }
  if (r->needs_ext() && !p.carries_ext()) {
    request_finish(s, *r, Status::rejected);
    return handle;
  }
  probe_at_message(s, p, r->msg_length);
  r->session = p.true_session;
  r->phase = Phase::queued;
  r->first_sent = s.now;
  p.queued.push_back(*r);
  {
    const MayPack may(s, op.hold, op.hold_announcement);
    send_pump(s, p, !op.hold);
  }
  if (r->phase == Phase::queued) s.count(Counter::throttled)++;
  return handle;
}

void send_queue_notify(State& s, Request& receive) {
  Partner& p = *receive.partner;
  receive.send_class = SendClass::notify;
  receive.phase = Phase::queued;
  receive.first_sent = s.now;
  // Ahead of messages, behind earlier NOTIFYs.
  Request* position = p.last_notify ? p.queued.next(*p.last_notify) : p.queued.front();
  if (position)
    p.queued.insert_before(*position, receive);
  else
    p.queued.push_back(receive);
  p.last_notify = &receive;
  p.notifies_queued++;
  send_pump(s, p);
}

namespace {

// Whether, and when, a message is copied so that it completes at once.
void copy_choose(State& s, Partner& p, Request& r, bool at_once, LateCopy& late) {
  if (r.parked) [[unlikely]]
    return park_copy(s, r);
  if (!to_buffer(r)) return;
  // A lone message leaves from the user's memory. Of several only the last, as what leaves together shares
  // frames and calls.
  const bool lone = at_once ? r.msg_length > 0 : r.msg_length >= kCopyAfter;
  const bool alone = lone && !p.queued.next(r);
  if (alone && r.copy_later && r.msg_length >= kCopyAfter && !s.uncopied)
    s.uncopied = &r;
  else if (alone)
    late.plan(s, r);
  else
    buffer(s, r);
}

void pump(State& s, Partner& p, bool at_once) {
  while (Request* r = p.queued.front()) {
    const bool notify = r->send_class == SendClass::notify && r->kind == RequestKind::receive;
    LateCopy late;
    if (p.outstanding() >= (notify ? kSendWindow : number_window(p))) return;
    if (!notify) {
      if (r->needs_ext() && !p.carries_ext()) {  // the partner changed while it waited
        r->queue.unlink();
        request_finish(s, *r, Status::rejected);
        continue;
      }
      r->send_class = class_for(s, p, *r);
      r->parked = r->send_class != SendClass::large && park_defers(s, p);
      if (r->parked) [[unlikely]]
        r->send_class = SendClass::large;
      const std::uint32_t cost = frame_cost(p, *r);
      if (p.frames_unacked > 0 && p.frames_unacked + cost > frame_credit(p)) return;
      if (r->send_class == SendClass::large && !park_region(s, *r)) {
        if (!p.region_blocked) s.region_waiters.push_back(p);
        p.region_blocked = true;
        retransmit_arm(s, p);  // nothing else may watch whether it lives
        return;
      }
      r->frames = static_cast<std::uint8_t>(cost);
      copy_choose(s, p, *r, at_once, late);
    } else {
      if (--p.notifies_queued == 0) p.last_notify = nullptr;
      r->frames = 1;
    }
    r->queue.unlink();
    r->seqnum = p.next_send;
    p.next_send = seq_add(p.next_send, 1);
    p.frames_unacked += r->frames;
    p.unacked.push_back(*r);
    r->phase = Phase::unacked;
    r->first_sent = s.now;
    transmit(s, *r);
    if (p.park_next > 0) [[unlikely]]
      park_counted(s, p, *r);
    if (!notify) history_note(s, Happened::sent, &p, r->match_info, r->msg_length, r->seqnum);
    // What need not be done before it leaves is done while it is on its way.
    if (at_once || late.planned() || s.uncopied == r) s.sink.flush();
    late.make();
    retransmit_arm(s, p);
    if (notify) {
      request_user_done(s, *r, r->status);
    } else if (r->buffered && !r->delivered && !r->synchronous) {
      r->xfer_length = r->msg_length;
      request_user_done(s, *r, Status::success);
    }
  }
}

}  // namespace

void send_copy(State& s) {
  Request& r = *s.uncopied;
  s.uncopied = nullptr;
  if (!buffer(s, r)) return;  // completes when it is acknowledged
  r.xfer_length = r.msg_length;
  request_user_done(s, r, Status::success);
}

void send_pump(State& s, Partner& p, bool at_once) {
  Request* first = p.queued.front();
  if (!first) return;
  if (p.held_back()) return retransmit_arm(s, p);
  // What waited for the window goes out together.
  const bool several = !s.packing.allowed && p.queued.next(*first);
  if (!several) return pump(s, p, at_once);
  {
    const MayPack may(s, true);
    pump(s, p, false);
  }
  pack_release(s);
}

void send_retransmit(State& s, Request& r, Counter why) {
  if (r.lost && r.resends == 0) r.partner->trip.lost();
  if (r.resends < 0xFFFF) r.resends++;
  r.lost = false;
  if (partner_reads_later(s, *r.partner)) {
    r.last_sent = s.now;
    return;
  }
  s.count(why)++;
  r.partner->resends++;
  history_note(s, Happened::resent, r.partner, r.match_info, r.msg_length, r.seqnum);
  lane_medium_lost(s, r);
  transmit(s, r);
}

void send_acknowledged(State& s, Request& r) {
  Partner& p = *r.partner;
  p.frames_unacked -= r.frames;
  lane_medium_done(s, p, r);
  if (r.kind == RequestKind::receive) {  // its NOTIFY
    request_protocol_done(s, r);
    return;
  }
  if (r.send_class == SendClass::large) {
    if (r.notified) {
      request_finish(s, r, r.xfer_length < r.msg_length ? Status::truncated : Status::success);
    } else {
      r.phase = Phase::await_notify;
      p.await_notify.push_back(r);
      park_waiting(s, r);
    }
    return;
  }
  if (p.park_next > 0) [[unlikely]]
    park_taken(p);
  r.xfer_length = r.msg_length;
  request_finish(s, r, Status::success);
}

}  // namespace omx::protocol
