// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/large_tx.h"

#include "protocol/actions/bulk_offer.h"
#include "protocol/actions/coalesce_packets.h"
#include "protocol/actions/frames.h"
#include "protocol/actions/message_fields.h"
#include "protocol/actions/unscheduled_tx.h"
#include "protocol/counters.h"
#include "protocol/state/ack_owed.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"
#include "protocol/types.h"
#include "wire/codec.h"
#include "wire/packets.h"

namespace omx::protocol {

namespace {

// Returns how many of the last bytes go with the RNDV: those that would else be a frame of their own.
std::uint32_t rndv_tail(const Request& r) {
  const Peer& p = *r.peer;
  const bool read = (p.agreed.features & wire::kFeatureTail) && p.agreed.mode == wire::Mode::omx &&
                    p.agreed.intra_node_frame == 0;
  const std::uint32_t unit = p.agreed.sizes.pull_reply_max;
  if (!read || r.msg_length <= unit) return 0;
  const std::uint32_t over = r.msg_length % unit;
  return over <= wire::kRndvTailMost ? over : 0;
}

}  // namespace

void rndv_transmit(State& s, Request& r) {
  constexpr std::uint16_t kAhead = 4;
  constexpr TimeNs kBurstPause = 20'000;
  Peer& p = *r.peer;
  if (r.msg_length >= kBulkBytes) bulk_offer(s, p);
  wire::Rndv packet;
  message_fill(s, r, true, packet);
  packet.msg_length = r.msg_length;
  packet.rdma_id = r.region;
  packet.rdma_seqnum = r.region_generation;
  packet.page = r.region_page;
  if (r.region_page > 0) packet.flags |= wire::kFlagPage;
  packet.rdma_offset = 0;
  packet.tail = static_cast<std::uint16_t>(rndv_tail(r));
  unscheduled_plan(s, r, packet);
  std::byte tail[wire::kRndvTailMost];
  r.segments.read(r.msg_length - packet.tail, tail, packet.tail);
  Draft draft;
  draft.length = wire::encode_rndv(draft.header, frame_head(s, p, wire::PacketType::rndv), packet, tail);
  {
    // In a burst, announcements that have others before them wait to share a frame: there is enough to ask
    // for. Announcements with unscheduled data do not wait.
    const bool burst = s.coalescing.announced_to == &p && s.now <= s.coalescing.announced + kBurstPause;
    s.coalescing.announced_to = &p;
    s.coalescing.announced = s.now;
    const MayCoalescePackets may(
        s, burst && s.coalescing.announces && p.bulk.larges_out > kAhead && packet.unscheduled_frames == 0);
    packet_send(s, p, draft);
  }
  ack_piggybacked(p);
  s.count(Counter::send_rndv)++;
  unscheduled_transmit(s, r, packet);
}

void notify_transmit(State& s, Request& r) {
  Peer& p = *r.peer;
  wire::Notify packet;
  packet.dst_endpoint = p.endpoint;
  packet.src_endpoint = s.config.endpoint;
  packet.flags = frame_flags(p, true);
  if (r.rx.leave && (p.agreed.features & wire::kFeatureUnscheduled)) packet.flags |= wire::kFlagUnscheduled;
  packet.session = p.reply_session();
  packet.total_length = r.rx.notify_length;
  packet.rdma_id = r.region;
  packet.rdma_seqnum = r.region_generation;
  packet.page = r.region_page;
  if (r.region_page > 0) packet.flags |= wire::kFlagPage;
  packet.seqnum = r.seqnum;
  packet.piggyack = p.counting.next_match;
  Draft draft;
  draft.length = wire::encode_notify(draft.header, frame_head(s, p, wire::PacketType::notify), packet);
  packet_send(s, p, draft);
  ack_piggybacked(p);
  s.count(Counter::send_notify)++;
}

}  // namespace omx::protocol
