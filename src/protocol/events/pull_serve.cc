// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/pull_serve.h"

#include "protocol/actions/bulk_offer.h"
#include "protocol/actions/nack_tx.h"
#include "protocol/actions/pull_answer.h"
#include "protocol/counters.h"
#include "protocol/events/received.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/gso_frame.h"
#include "protocol/state/news.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/regions.h"
#include "protocol/state/request.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

namespace {

constexpr std::uint32_t kFramesPerRequest = 64;
constexpr std::uint32_t kRefusal = 64;  // bytes of an answer that only refuses GSO frames
// If an extended peer's timer repeats a request within this time of our answer, it did so while we did not
// run. The answer is on its way then. Repetitions because of a gap come sooner and carry a flag.
constexpr TimeNs kJustServed = 2 * kMillisecond;

// Returns whether a reply with so many data bytes is no longer than the frames that we exchange with the
// peer.
bool fits_frame(const State& s, const Peer& p, std::uint32_t unit) {
  return unit + wire::kBulkHeader + peer_overhead(p) <= peer_frame(s, p);
}

bool range_check(const State& s, const Peer& p, const Request& r, const wire::Pull& pull, PullRange& range) {
  range.unit = pull.reply_max ? pull.reply_max : p.agreed.sizes.pull_reply_max;
  const std::uint64_t m = range.unit;
  if (m < 64 || (!fits_frame(s, p, range.unit) && !gso_known(s, p))) return false;
  const std::uint64_t shift = pull.rdma_offset % m;
  if (pull.first_frame_offset >= m || pull.block_length == 0) return false;
  const std::uint64_t frames = (pull.first_frame_offset + std::uint64_t{pull.block_length} + m - 1) / m;
  // Legacy peers derive the size of a block from constants, as we do.
  if (frames > (p.agreed.extended ? kFramesPerRequest : p.agreed.sizes.pull_frames)) return false;
  const std::uint64_t start = pull.frame_index * m + pull.first_frame_offset;
  if (start < shift) return false;
  range.offset = start - shift;
  range.first = static_cast<std::uint32_t>(m - pull.first_frame_offset);
  return range.offset + pull.rdma_offset + pull.block_length <= r.msg_length;
}

// Answers a request for GSO frames that we cannot send now. The first bytes alone tell the receiver.
void gso_refuse(State& s, Peer& p, Request& r, const wire::Pull& pull, PullRange range) {
  wire::Pull part = pull;
  part.flags &= static_cast<std::uint8_t>(~wire::kFlagBulk);
  part.block_length = std::min(pull.block_length, kRefusal);
  part.first_frame_offset = 0;
  range.unit = range.first = part.block_length;
  pull_reply_send(s, p, r, part, range, true);
}

// How recently the same request was answered.
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

}  // namespace

void pull_serve(State& s, const wire::Head& head, wire::Frame frame) {
  Peer* p = peer_find(s, head.src, load_src_endpoint(frame));
  if (!rx_checksum_ok(s, p, frame)) return;
  wire::Pull pull;
  const bool extended = p && p->agreed.extended;
  if (const auto drop = wire::decode_pull(frame, p ? p->agreed.mode : s.config.mode, extended, pull);
      drop != wire::Drop::none)
    return rx_drop(s, drop);
  s.count(Counter::recv_pull_request)++;
  if (pull.session != s.config.session) {
    s.count(Counter::drop_bad_session)++;
    nack_mcp_send(s, head, frame, pull, wire::NackCode::bad_session);
    return;
  }
  if (!p) {
    s.count(Counter::drop_unknown_peer)++;
    return;
  }
  peer_heard(s, *p);
  // A late request must not read the memory of the region's next owner (docs/spec/protocol.md 8.4 [DO]).
  Region* const region = s.regions.find(pull.rdma_id, pull.rdma_seqnum);
  Request* const r = region ? region->owner : nullptr;
  if (!r || r->peer != p) {
    s.count(Counter::drop_pull_bad_region)++;
    nack_mcp_send(s, head, frame, pull, wire::NackCode::bad_rdma_window);
    return;
  }
  // A process with messages of its own to copy does not copy for others: two copies by two busy processors
  // take longer than one each.
  if (extended && (pull.flags & wire::kFlagShared) && !s.transfers.pull_sharing.empty()) return;
  PullRange range;
  if (!range_check(s, *p, *r, pull, range)) {
    s.count(Counter::drop_pull_bad_range)++;
    return;
  }
  const Served served = served_note(s, *region, pull);
  if (served == Served::just && p->agreed.extended && !(pull.flags & wire::kFlagGap)) {
    s.count(Counter::drop_pull_repeated)++;
    return;
  }
  const bool bulk = pull.flags & wire::kFlagBulk;
  const bool by_batch = s.config.bulk.at_nic || (bulk && p->bulk.out);
  const std::uint32_t normal = bulk_sizes(s, *p).pull_reply_max;
  if (extended && by_batch && pull.block_length > std::min(range.unit, normal))
    bulk_answered(s, *p, served != Served::no);
  if (extended) bulk_asked(s, *p, pull);
  if (bulk && pull.block_length > normal) p->bulk.gso_asked = range.unit > normal;
  if (!fits_frame(s, *p, range.unit) && !(bulk && gso_serves(s, *p, range.unit)))
    return gso_refuse(s, *p, *r, pull, range);
  const PullRoute back{s.rails.rx_rail, s.rails.rx_nic};
  const bool again = served != Served::no || (extended && (pull.flags & wire::kFlagGap));
  pull_reply_send(s, *p, *r, pull, range, again, p->rails ? &back : nullptr);
}

}  // namespace omx::protocol
