// SPDX-License-Identifier: BSD-3-Clause
// The sender's side of a large or synchronous message: a region that the receiver pulls from, RNDV, and the
// NOTIFY that ends it (docs/spec/protocol.md 8.1).
#include "protocol/direct.h"
#include "protocol/state.h"

namespace omx::protocol {

void region_release(State& s, Request& r) {
  Region* const region = s.regions.of(r);
  if (!region) return;
  s.regions.release(*region);
  if (s.config.direct && region->page == 0) s.config.direct->region_ended(region->place);
  // Whoever waited longest sends next; if that one cannot use the region (no credit), the next. One that
  // waits again, as it lacks memory, is not asked twice.
  const Partner* first_again = nullptr;
  while (!s.closing && s.regions.available()) {
    Partner* p = s.region_waiters.front();
    if (!p || p == first_again) return;
    s.region_waiters.pop_front();
    p->region_blocked = false;
    send_pump(s, *p);
    if (p->region_blocked && !first_again) first_again = p;
  }
}

namespace {

// How many of its last bytes go with the RNDV: those that would else be a frame of their own.
std::uint32_t rndv_tail(const Request& r) {
  const Partner& p = *r.partner;
  const bool read = (p.features & wire::kFeatureTail) && p.mode == wire::Mode::omx && p.near_frame == 0;
  const std::uint32_t unit = p.sizes.pull_reply_max;
  if (!read || r.msg_length <= unit) return 0;
  const std::uint32_t over = r.msg_length % unit;
  return over <= wire::kRndvTailMost ? over : 0;
}

}  // namespace

void rndv_transmit(State& s, Request& r) {
  constexpr std::uint16_t kAhead = 4;
  constexpr TimeNs kBurstPause = 20'000;
  Partner& p = *r.partner;
  if (r.msg_length >= kLaneBytes) lane_offer(s, p);
  wire::Rndv packet;
  message_fill(s, r, true, packet);
  packet.msg_length = r.msg_length;
  packet.rdma_id = r.region;
  packet.rdma_seqnum = r.region_generation;
  packet.page = r.region_page;
  if (r.region_page > 0) packet.flags |= wire::kFlagPage;
  packet.rdma_offset = 0;
  packet.tail = static_cast<std::uint16_t>(rndv_tail(r));
  unasked_plan(s, r, packet);
  std::byte tail[wire::kRndvTailMost];
  r.segments.read(r.msg_length - packet.tail, tail, packet.tail);
  Draft draft;
  draft.length = wire::encode_rndv(draft.header, frame_head(s, p, wire::PacketType::rndv), packet, tail);
  {
    // In a burst, those that have others before them wait for company: there is enough to ask for. Data
    // unasked wait for nobody.
    const bool burst = s.packing.announced_to == &p && s.now <= s.packing.announced + kBurstPause;
    s.packing.announced_to = &p;
    s.packing.announced = s.now;
    const Gathers may(s, burst && s.packing.announces && p.larges_out > kAhead && packet.unasked_frames == 0);
    packet_send(s, p, draft);
  }
  ack_piggybacked(p);
  s.count(Counter::send_rndv)++;
  unasked_transmit(s, r, packet);
}

void large_notified(State& s, Partner& p, const wire::Notify& packet) {
  // A repeated NOTIFY of an earlier owner of the region is known by the generation.
  const Region* const region =
      s.regions.find(packet.rdma_id | std::uint32_t{packet.page} << 8, packet.rdma_seqnum);
  Request* const r = region ? region->owner : nullptr;
  if (!r || r->partner != &p || r->notified) return;
  r->notified = true;
  unasked_notified(s, p, *r, packet.flags & wire::kFlagUnasked);
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
