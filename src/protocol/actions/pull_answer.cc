// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/pull_answer.h"

#include <algorithm>

#include "protocol/actions/bulk_offer.h"
#include "protocol/actions/coalesce.h"
#include "protocol/actions/frames.h"
#include "protocol/counters.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "wire/codec.h"
#include "wire/frame_io.h"
#include "wire/udp_bulk.h"

namespace omx::protocol {

void pull_reply_send(State& s, Peer& p, Request& r, const wire::Pull& pull, const PullRange& range,
                     bool again, const PullRoute* way) {
  wire::PullReply packet;
  packet.src_endpoint = s.config.endpoint;
  packet.pull_handle = pull.pull_handle;
  packet.magic = pull.magic;
  std::uint64_t offset = range.offset;
  std::uint32_t left = pull.block_length;
  std::uint32_t index = pull.frame_index;
  std::uint32_t room = range.first;
  const bool by_bulk = (pull.flags & wire::kFlagBulk) && p.bulk.out;
  const std::uint32_t cut = by_bulk && range.unit > bulk_sizes(s, p).pull_reply_max ? bulk_frame(s, p) : 0;
  if (by_bulk) bulk_sent_count(s, r);
  if (s.coalescing.packets) coalesce_release(s);  // packets leave before so many data
  const std::uint32_t frames = (pull.first_frame_offset + left + range.unit - 1) / range.unit;
  const std::uint32_t batch = wire::gso_batch_frames(range.unit + wire::kBulkHeader + peer_overhead(p));
  const bool alone = again || (!by_bulk && bulk_alone(s, p));
  const bool announces = by_bulk && (pull.flags & wire::kFlagAnnounce);
  const bool ahead = announces && (p.agreed.features & wire::kFeatureAhead);
  const std::uint32_t rings_at =
      pull.frame_index + wire::bulk_announced_before(frames, std::max(batch, 1U), range.unit);
  while (left > 0) {
    if (ahead && index == rings_at) {
      bulk_announce(s, p, wire::bulk_answer(pull.pull_handle, pull.frame_index + frames - 1));
      frames_leave(s);  // the announcement leaves with what comes before it, not with what follows
    }
    const std::uint32_t length = std::min(left, room);
    left -= length;
    packet.flags = p.agreed.extended ? frame_flags(p, left == 0 && !(pull.flags & wire::kFlagQuiet)) : 0;
    packet.frame_seqnum = static_cast<std::uint8_t>(index++);
    packet.frame_length = static_cast<std::uint16_t>(length);
    packet.msg_offset = static_cast<std::uint32_t>(offset);
    const std::uint32_t pieces = r.segments.count() + 1;
    wire::TxFrame& frame = by_bulk ? s.sink.bulk_begin(p.bulk.address, pieces)
                           : way   ? s.sink.rail_begin(way->rail, pieces)
                                   : frame_begin(s, p, pieces);
    auto head = frame_head(s, p, wire::PacketType::pull_reply);
    if (way) {
      head.dst = way->nic;
      head.src = s.config.rails.nics[way->rail];
    }
    frame.alone = alone;
    frame.cut = cut;
    frame.lasting = true;
    frame.header_length = static_cast<std::uint32_t>(wire::encode_pull_reply(frame.header, head, packet));
    frame.segment_count = r.segments.gather(offset + pull.rdma_offset, length, frame.segments);
    frame_finish(s, frame, p.agreed.checksum);
    s.count(Counter::send_pull_reply)++;
    if (by_bulk) s.count(Counter::send_pull_reply_bulk)++;
    offset += length;
    room = range.unit;
  }
  if (announces && !ahead) bulk_announce(s, p);
}

void pull_answer(State& s, Peer& p, Request& r, const wire::Pull& request, std::uint32_t unit) {
  pull_reply_send(s, p, r, request, {unit, 0, unit});
}

}  // namespace omx::protocol
