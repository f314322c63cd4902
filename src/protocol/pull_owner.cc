// SPDX-License-Identifier: BSD-3-Clause
// The sender's side of a pull: each request is answered at once with its frames, straight from user memory.
// No state per pull (docs/spec/protocol.md 8.4).
#include <algorithm>

#include "protocol/state.h"

namespace omx::protocol {

namespace {

constexpr std::uint32_t kFramesPerRequest = 64;
// A request that an extended puller's timer repeats within this time of its answer was sent while we did not
// run: the answer is on its way. Repetitions because of a gap come sooner, and say so.
constexpr TimeNs kJustServed = 2 * kMillisecond;

// The request, checked against the region it names.
struct Range {
  std::uint32_t unit = 0;
  std::uint64_t offset = 0;  // in the message
  std::uint32_t first = 0;   // bytes of the first reply at most
};

bool range_check(const State& s, const Partner& p, const Request& r, const wire::Pull& pull, Range& range) {
  range.unit = pull.reply_max ? pull.reply_max : p.sizes.pull_reply_max;
  const std::uint64_t m = range.unit;
  if (m < 64 || m + 32 + partner_overhead(p) > partner_frame(s, p)) return false;
  const std::uint64_t shift = pull.rdma_offset % m;
  if (pull.first_frame_offset >= m || pull.block_length == 0) return false;
  const std::uint64_t frames = (pull.first_frame_offset + std::uint64_t{pull.block_length} + m - 1) / m;
  // Reference peers derive the size of a block from constants, as we do.
  if (frames > (p.extended ? kFramesPerRequest : p.sizes.pull_frames)) return false;
  const std::uint64_t start = pull.frame_index * m + pull.first_frame_offset;
  if (start < shift) return false;
  range.offset = start - shift;
  range.first = static_cast<std::uint32_t>(m - pull.first_frame_offset);
  return range.offset + pull.rdma_offset + pull.block_length <= r.msg_length;
}

// Whether the same request was answered before, or a moment ago.
enum class Served : std::uint8_t { no, before, just };

// Notes the request, unless it was answered a moment ago.
Served served_note(const State& s, Region& region, const wire::Pull& pull) {
  Region::Served* oldest = region.served.data();
  Served served = Served::no;
  for (Region::Served& r : region.served) {
    if (r.handle == pull.pull_handle && r.frame_index == pull.frame_index &&
        r.block_length == pull.block_length) {
      if (s.now - r.at < kJustServed) return Served::just;
      served = Served::before;
      oldest = &r;
      break;
    }
    if (r.at < oldest->at) oldest = &r;
  }
  *oldest = {s.now, pull.pull_handle, pull.frame_index, pull.block_length};
  return served;
}

// By which of our boards to which of the partner's: the way back of the request.
struct Way {
  unsigned rail = 0;
  NicId nic = 0;
};

void reply(State& s, Partner& p, const Request& r, const wire::Pull& pull, const Range& range,
           bool again = false, const Way* way = nullptr) {
  wire::PullReply packet;
  packet.pull_handle = pull.pull_handle;
  packet.magic = pull.magic;
  std::uint64_t offset = range.offset;
  std::uint32_t left = pull.block_length;
  std::uint32_t index = pull.frame_index;
  std::uint32_t room = range.first;
  const bool by_lane = (pull.flags & wire::kFlagLane) && p.lane_out;
  if (s.packing.packets) pack_release(s);  // before so many data
  const std::uint32_t frames = (pull.first_frame_offset + left + range.unit - 1) / range.unit;
  const std::uint32_t train = wire::frames_of_train(range.unit + wire::kBulkHeader + partner_overhead(p));
  const bool alone = again || (!by_lane && lane_alone(s, p));
  const bool rings = by_lane && (pull.flags & wire::kFlagBell);
  const bool ahead = rings && (p.features & wire::kFeatureAhead);
  const std::uint32_t rings_at =
      pull.frame_index + wire::lane_announced_before(frames, std::max(train, 1U), range.unit);
  while (left > 0) {
    if (ahead && index == rings_at) {
      lane_announce(s, p, wire::lane_answer(pull.pull_handle, pull.frame_index + frames - 1));
      s.sink.flush();  // the announcement leaves with what comes before it, not with what follows
    }
    const std::uint32_t length = std::min(left, room);
    left -= length;
    packet.flags = p.extended ? frame_flags(p, left == 0 && !(pull.flags & wire::kFlagQuiet)) : 0;
    packet.frame_seqnum = static_cast<std::uint8_t>(index++);
    packet.frame_length = static_cast<std::uint16_t>(length);
    packet.msg_offset = static_cast<std::uint32_t>(offset);
    const std::uint32_t pieces = r.segments.count() + 1;
    wire::TxFrame& frame = by_lane ? s.sink.lane_begin(p.lane, pieces)
                           : way   ? s.sink.rail_begin(way->rail, pieces)
                                   : frame_begin(s, p, pieces);
    auto head = frame_head(s, p, wire::PacketType::pull_reply);
    if (way) {
      head.dst = way->nic;
      head.src = s.config.rails.nics[way->rail];
    }
    frame.alone = alone;
    if (p.extended) head.peer_index = 0;  // its low byte is the flags
    frame.header_length = static_cast<std::uint32_t>(wire::encode_pull_reply(frame.header, head, packet));
    frame.segment_count = r.segments.gather(offset + pull.rdma_offset, length, frame.segments);
    frame_finish(s, frame, p.checksum);
    s.count(Counter::send_pull_reply)++;
    if (by_lane) s.count(Counter::send_pull_reply_lane)++;
    offset += length;
    room = range.unit;
  }
  if (rings && !ahead) lane_announce(s, p);
}

}  // namespace

void pull_answer(State& s, Partner& p, const Request& r, const wire::Pull& request, std::uint32_t unit) {
  reply(s, p, r, request, {unit, 0, unit});
}

void pull_serve(State& s, const wire::Head& head, wire::Frame frame) {
  Partner* p = partner_find(s, head.src, load_src_endpoint(frame));
  if (!rx_checksum_ok(s, p, frame)) return;
  wire::Pull pull;
  const bool extended = p && p->extended;
  if (const auto drop = wire::decode_pull(frame, p ? p->mode : s.config.mode, extended, pull);
      drop != wire::Drop::none)
    return rx_drop(s, drop);
  s.count(Counter::recv_pull_request)++;
  if (pull.session != s.config.session) {
    s.count(Counter::drop_bad_session)++;
    nack_mcp_send(s, head, frame, pull, wire::NackCode::bad_session);
    return;
  }
  if (!p) {
    s.count(Counter::drop_unknown_partner)++;
    return;
  }
  partner_heard(s, *p);
  // A late request must not read the region's next owner (docs/spec/protocol.md 8.4 [DO]).
  Region* const region = s.regions.find(pull.rdma_id, pull.rdma_seqnum);
  const Request* const r = region ? region->owner : nullptr;
  if (!r || r->partner != p) {
    s.count(Counter::drop_pull_bad_region)++;
    nack_mcp_send(s, head, frame, pull, wire::NackCode::bad_rdma_window);
    return;
  }
  Range range;
  if (!range_check(s, *p, *r, pull, range)) {
    s.count(Counter::drop_pull_bad_range)++;
    return;
  }
  const Served served = served_note(s, *region, pull);
  if (served == Served::just && p->extended && !(pull.flags & wire::kFlagGap)) {
    s.count(Counter::drop_pull_repeated)++;
    return;
  }
  const bool by_train = s.config.lane_at_nic || ((pull.flags & wire::kFlagLane) && p->lane_out);
  if (extended && by_train && pull.block_length > range.unit) lane_answered(s, *p, served != Served::no);
  if (extended) lane_asked(s, *p, pull);
  const Way back{s.rx_rail, s.rx_nic};
  const bool again = served != Served::no || (extended && (pull.flags & wire::kFlagGap));
  reply(s, *p, *r, pull, range, again, p->rails ? &back : nullptr);
}

}  // namespace omx::protocol
