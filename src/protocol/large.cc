// SPDX-License-Identifier: BSD-3-Clause
// The sender's side of a large or synchronous message: a region that the receiver pulls from, RNDV, and the
// NOTIFY that ends it (protocol.md 8.1).
#include "protocol/direct.h"
#include "protocol/state.h"

namespace omx::protocol {

bool region_acquire(State& s, Request& r) {
  if (s.regions_used == kRegions) return false;
  // Round robin: a region rests as long as possible before reuse, so late PULLs rarely meet a new owner.
  while (s.regions[s.region_next % kRegions]) s.region_next++;
  const auto id = static_cast<std::uint8_t>(s.region_next++ % kRegions);
  s.regions[id] = &r;
  s.regions_used++;
  r.region = id;
  r.region_generation = s.region_generations[id]++;
  s.served[id] = {};
  return true;
}

void region_release(State& s, Request& r) {
  if (s.regions[r.region] != &r) return;
  s.regions[r.region] = nullptr;
  s.regions_used--;
  if (s.config.direct) s.config.direct->region_ended(r.region);
  // Whoever waited longest sends next; if that one cannot use the region (no credit), the next.
  while (!s.closing && s.regions_used < kRegions) {
    Partner* p = s.region_waiters.pop_front();
    if (!p) return;
    p->region_blocked = false;
    send_pump(s, *p);
  }
}

void rndv_transmit(State& s, Request& r) {
  Partner& p = *r.partner;
  if (r.msg_length >= kLaneBytes) lane_offer(s, p);
  wire::Rndv packet;
  message_fill(s, r, true, packet);
  packet.msg_length = r.msg_length;
  packet.rdma_id = r.region;
  packet.rdma_seqnum = r.region_generation;
  packet.rdma_offset = 0;
  wire::TxFrame& frame = s.sink.frame_begin(1);
  const auto head = frame_head(s, p, wire::PacketType::rndv);
  frame.header_length = static_cast<std::uint32_t>(wire::encode_rndv(frame.header, head, packet));
  frame.segment_count = 0;
  frame_finish(s, frame, p.checksum);
  ack_piggybacked(p);
  s.count(Counter::send_rndv)++;
}

void large_notified(State& s, Partner& p, const wire::Notify& packet) {
  Request* r = s.regions[packet.rdma_id];
  // A repeated NOTIFY of an earlier owner of the region is known by the generation.
  if (!r || r->partner != &p || r->region_generation != packet.rdma_seqnum || r->notified) return;
  r->notified = true;
  r->xfer_length = packet.total_length < r->msg_length ? packet.total_length : r->msg_length;
  if (r->phase == Phase::await_notify) {
    r->queue.unlink();
    region_release(s, *r);
    request_finish(s, *r, r->xfer_length < r->msg_length ? Status::truncated : Status::success);
  } else {
    region_release(s, *r);  // the ack of the RNDV completes it
  }
}

}  // namespace omx::protocol
