// SPDX-License-Identifier: BSD-3-Clause
// Ends a large or synchronous send when the receiver's NOTIFY comes (docs/spec/protocol.md 8.1).
#include "protocol/events/large.h"

#include "protocol/actions/completion.h"
#include "protocol/actions/region_release.h"
#include "protocol/state/peer.h"
#include "protocol/state/regions.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"
#include "protocol/state/unscheduled.h"
#include "protocol/types.h"

namespace omx::protocol {

void large_notified(State& s, Peer& p, const wire::Notify& packet) {
  // The generation tells a repeated NOTIFY for an earlier owner of the region from one for the present owner.
  const Region* const region =
      s.regions.find(packet.rdma_id | std::uint32_t{packet.page} << 8, packet.rdma_seqnum);
  Request* const r = region ? region->owner : nullptr;
  if (!r || r->peer != &p || r->tx.notified) return;
  r->tx.notified = true;
  unscheduled_notified(s, p, *r, packet.flags & wire::kFlagUnscheduled);
  r->xfer_length = packet.total_length < r->msg_length ? packet.total_length : r->msg_length;
  if (r->phase == Phase::await_notify) {
    r->queue.unlink();
    region_release(s, *r);
    request_finish(s, *r, r->xfer_length < r->msg_length ? Status::truncated : Status::success);
  } else {
    region_release(s, *r);  // the acknowledgement of the RNDV completes the send
  }
}

}  // namespace omx::protocol
