// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/unscheduled_tx.h"

#include <algorithm>
#include <utility>

#include "protocol/actions/frames.h"
#include "protocol/actions/pull_answer.h"
#include "protocol/counters.h"
#include "protocol/state/gso_frame.h"
#include "protocol/state/peer.h"
#include "protocol/state/request.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "protocol/state/unscheduled.h"
#include "wire/sizes.h"
#include "wire/udp_bulk.h"

namespace omx::protocol {

namespace {

// Unscheduled data leave only while at most so many large messages, this one included, have no NOTIFY yet. In
// a stream the receiver's requests come early enough anyway (docs/reference/wire.md 17).
constexpr std::uint16_t kLargesMost = 2;

// Returns whether this message may bring unscheduled data. Counts it, if such data are paused.
bool may_send(State& s, Peer& p, const Request& r) {
  if (!(p.agreed.features & wire::kFeatureUnscheduled) || p.agreed.mode != wire::Mode::omx ||
      p.agreed.intra_node_frame)
    return false;
  if (r.resends > 0 || r.tx.parked || p.tx.eager || r.region_page > 0 || s.now >= p.bulk.unscheduled_until ||
      p.bulk.larges_out > kLargesMost)
    return false;
  if (p.bulk.unscheduled_skip == 0) return true;
  p.bulk.unscheduled_skip--;
  return false;
}

}  // namespace

void unscheduled_plan(State& s, Request& r, wire::Rndv& packet) {
  Peer& p = *r.peer;
  if (!std::exchange(r.tx.announced, true)) p.bulk.larges_out++;
  if (!may_send(s, p, r)) return;
  const std::uint32_t length = r.msg_length - packet.tail, overhead = peer_overhead(p);
  const bool bulk = unscheduled_by_bulk(p, length);
  const std::uint32_t gso = bulk && p.bulk.gso_asked ? gso_unit(s, p, length) : 0;
  const bool whole =
      gso > 0 && gso <= s.config.unscheduled_bytes && gso_trusted(s, p) && gso_serves(s, p, gso);
  const std::uint32_t unit =
      whole  ? gso
      : bulk ? bulk_sizes(s, p).pull_reply_max
             : wire::extended_sizes(p.agreed.mode, p.agreed.frame_max, overhead).pull_reply_max;
  std::uint32_t most = s.config.unscheduled_bytes / unit;
  if (most == 0 && s.config.unscheduled_bytes > 0 && unit <= wire::kGsoBatchBytes) most = 1;
  if (bulk && !whole) most = std::min(most, wire::gso_batch_frames(unit + wire::kBulkHeader + overhead));
  packet.unscheduled_frames =
      static_cast<std::uint8_t>(std::min({most, wire::kGsoBatchFrames, (length + unit - 1) / unit}));
  if (packet.unscheduled_frames == 0) return;
  packet.unscheduled_unit = static_cast<std::uint16_t>(unit);
  packet.flags |= wire::kFlagUnscheduled;
}

void unscheduled_transmit(State& s, Request& r, const wire::Rndv& rndv) {
  if (rndv.unscheduled_frames == 0) return;
  Peer& p = *r.peer;
  const std::uint32_t length = r.msg_length - rndv.tail;
  wire::Pull request;
  request.pull_handle = unscheduled_key(rndv);
  request.magic = wire::unscheduled_magic(p.endpoint, s.config.endpoint);
  request.block_length = std::min<std::uint32_t>(rndv.unscheduled_frames * rndv.unscheduled_unit, length);
  // If the message is longer than that, the receiver asks for its end.
  request.flags = request.block_length < length ? wire::kFlagQuiet : 0;
  if (unscheduled_by_bulk(p, length)) {
    request.flags |= wire::kFlagBulk;
    frames_leave(s);  // the RNDV must be there first
  }
  pull_answer(s, p, r, request, rndv.unscheduled_unit);
  r.tx.unscheduled = true;
  s.count(Counter::send_unscheduled)++;
}

}  // namespace omx::protocol
