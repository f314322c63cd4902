// SPDX-License-Identifier: BSD-3-Clause
// The first frames of a large message follow its RNDV as unscheduled data. So they are on their way while the
// receiver finds out where they belong (docs/reference/wire.md 17). For the receiver they answer a request
// that it need not send.
// The NOTIFY of each message says whether the next one may bring unscheduled data. It may not when the
// message came before its receive was posted, nor while several peers send. Only the receiver's requests
// protect the last switch port.
#include "protocol/state/unscheduled.h"

#include <algorithm>
#include <utility>

#include "protocol/counters.h"
#include "protocol/state/bulk_trust.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/pull.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"
#include "protocol/state/unscheduled_data.h"
#include "protocol/types.h"
#include "wire/udp_bulk.h"

namespace omx::protocol {

namespace {

// After this time the receiver may be busy with other senders.
constexpr TimeNs kLeaveLasts = 10 * kMillisecond;
constexpr std::uint8_t kPauseMost = 63;
constexpr std::size_t kRunningMost = 16;

}  // namespace

std::uint32_t unscheduled_key(const wire::Rndv& rndv) {
  return rndv.rdma_id | std::uint32_t{rndv.rdma_seqnum} << 8 | std::uint32_t{rndv.seqnum} << 16;
}

bool unscheduled_by_bulk(const Peer& p, std::uint32_t length) {
  return p.bulk.out && length >= kBulkBytes && !p.rails;
}

void unscheduled_notified(State& s, Peer& p, Request& r, bool more) {
  if (std::exchange(r.tx.announced, false)) p.bulk.larges_out--;
  p.bulk.alone = more;
  p.bulk.unscheduled_until = more ? s.now + kLeaveLasts : 0;
  if (!r.tx.unscheduled) return;
  r.tx.unscheduled = false;
  p.bulk.unscheduled_pause = more ? 0 : std::min<std::uint8_t>(2 * p.bulk.unscheduled_pause + 1, kPauseMost);
  p.bulk.unscheduled_skip = p.bulk.unscheduled_pause;
}

bool unscheduled_leave(State& s, const Peer& p, bool useful) {
  UnscheduledLeave* place = nullptr;
  for (UnscheduledLeave& leave : s.transfers.unscheduled.leaves) {
    const bool its_own = leave.peer == &p;
    if (its_own) leave = {};
    if (its_own || (!place && s.now >= leave.until)) place = &leave;
  }
  if (!useful || !place || s.pulling.senders > 1) return false;
  *place = {&p, s.now + 2 * kLeaveLasts};
  return true;
}

std::uint32_t unscheduled_expect(State& s, Pull& pull, const wire::Rndv& rndv) {
  if (rndv.unscheduled_frames == 0) return 0;
  pull.leave = false;                                             // unless the data are of use
  if (rndv.unscheduled_frames > wire::kGsoBatchFrames) return 0;  // more than a block holds
  const Request& r = *pull.request;
  if (rndv.unscheduled_unit != pull.unit || pull.shift != 0 || r.xfer_length != r.msg_length) return 0;
  std::size_t running = 0;
  for (Pull* other = s.transfers.unscheduled.running.front(); other;
       other = s.transfers.unscheduled.running.next(*other))
    running++;
  if (running >= kRunningMost) return 0;
  const Peer& p = *pull.peer;
  const std::uint32_t key = unscheduled_key(rndv);
  const UnscheduledLost lost{p.nic, wire::unscheduled_magic(s.config.endpoint, p.endpoint), key};
  if (std::find(s.transfers.unscheduled.lost.begin(), s.transfers.unscheduled.lost.end(), lost) !=
      s.transfers.unscheduled.lost.end())
    return 0;
  pull.leave = true;
  pull.unscheduled_key = key;
  s.transfers.unscheduled.running.push_back(pull);
  s.count(Counter::recv_unscheduled)++;
  return std::min<std::uint32_t>(rndv.unscheduled_frames, pull.frames);
}

Pull* unscheduled_find(State& s, NicId nic, std::uint32_t magic, std::uint32_t key, std::uint8_t source) {
  if (!wire::unscheduled(magic)) return nullptr;
  for (Pull* pull = s.transfers.unscheduled.running.front(); pull;
       pull = s.transfers.unscheduled.running.next(*pull)) {
    if (unscheduled_is(s, *pull, magic, key) && pull->peer->nic == nic)
      return pull->peer->misnamed(source) ? nullptr : pull;
  }
  const Peer* const p = peer_find(s, nic, wire::unscheduled_from(magic));
  if (p && p->misnamed(source)) return nullptr;
  // The RNDV of this message may still be on its way.
  const UnscheduledLost lost{nic, magic, key};
  if (s.transfers.unscheduled.lost[s.transfers.unscheduled.lost_last] == lost) return nullptr;
  s.transfers.unscheduled.lost_last =
      (s.transfers.unscheduled.lost_last + 1) % s.transfers.unscheduled.lost.size();
  s.transfers.unscheduled.lost[s.transfers.unscheduled.lost_last] = lost;
  return nullptr;
}

bool unscheduled_is(const State& s, const Pull& pull, std::uint32_t magic, std::uint32_t key) {
  return pull.unscheduled_hook.linked() && pull.unscheduled_key == key &&
         magic == wire::unscheduled_magic(s.config.endpoint, pull.peer->endpoint);
}

}  // namespace omx::protocol
