// SPDX-License-Identifier: BSD-3-Clause
// The first frames of a large message follow its RNDV unasked, so that they are on their way while the
// receiver finds out where they belong (docs/reference/wire.md 17). To it they are answers to a request that
// it need not send. The NOTIFY of each message says whether the next one may do so: not when it came before
// its receive was posted, nor while several send, as nothing but the receiver's requests protects the last
// switch port.
#include <algorithm>
#include <utility>

#include "protocol/state.h"

namespace omx::protocol {

namespace {

// Longer ago the receiver may be busy with others.
constexpr TimeNs kLeaveLasts = 10 * kMillisecond;
constexpr std::uint16_t kLargesMost = 2;  // at a time: a stream is asked for in good time
constexpr std::uint8_t kPauseMost = 63;
constexpr std::size_t kRunningMost = 16;

std::uint32_t key_of(const wire::Rndv& rndv) {
  return rndv.rdma_id | std::uint32_t{rndv.rdma_seqnum} << 8 | std::uint32_t{rndv.seqnum} << 16;
}

bool by_lane(const Partner& p, std::uint32_t length) {
  return p.lane_out && length >= kLaneBytes && !p.rails;
}

bool may_send(State& s, Partner& p, const Request& r) {
  if (!(p.features & wire::kFeatureUnasked) || p.mode != wire::Mode::omx || p.near_frame) return false;
  if (r.resends > 0 || r.parked || r.region_page > 0 || s.now >= p.unasked_until ||
      p.larges_out > kLargesMost)
    return false;
  if (p.unasked_skip == 0) return true;
  p.unasked_skip--;
  return false;
}

}  // namespace

void unasked_plan(State& s, Request& r, wire::Rndv& packet) {
  Partner& p = *r.partner;
  if (!std::exchange(r.announced, true)) p.larges_out++;
  if (!may_send(s, p, r)) return;
  const std::uint32_t length = r.msg_length - packet.tail, overhead = partner_overhead(p);
  const bool lane = by_lane(p, length);
  const std::uint32_t unit = lane ? lane_sizes(s, p).pull_reply_max
                                  : wire::extended_sizes(p.mode, p.frame_max, overhead).pull_reply_max;
  std::uint32_t most = s.config.unasked_bytes / unit;
  if (most == 0 && s.config.unasked_bytes > 0 && unit <= wire::kGsoBatchBytes) most = 1;
  if (lane) most = std::min(most, wire::frames_of_train(unit + wire::kBulkHeader + overhead));
  packet.unasked_frames =
      static_cast<std::uint8_t>(std::min({most, wire::kGsoBatchFrames, (length + unit - 1) / unit}));
  if (packet.unasked_frames == 0) return;
  packet.unasked_unit = static_cast<std::uint16_t>(unit);
  packet.flags |= wire::kFlagUnasked;
}

void unasked_transmit(State& s, Request& r, const wire::Rndv& rndv) {
  if (rndv.unasked_frames == 0) return;
  Partner& p = *r.partner;
  const std::uint32_t length = r.msg_length - rndv.tail;
  wire::Pull request;
  request.pull_handle = key_of(rndv);
  request.magic = wire::unasked_magic(p.endpoint, s.config.endpoint);
  request.block_length = std::min<std::uint32_t>(rndv.unasked_frames * rndv.unasked_unit, length);
  // The end of more than that is asked for.
  request.flags = request.block_length < length ? wire::kFlagQuiet : 0;
  if (by_lane(p, length)) {
    request.flags |= wire::kFlagLane;
    s.sink.flush();  // the RNDV must be there first
  }
  pull_answer(s, p, r, request, rndv.unasked_unit);
  r.unasked = true;
  s.count(Counter::send_unasked)++;
}

void unasked_notified(State& s, Partner& p, Request& r, bool more) {
  if (std::exchange(r.announced, false)) p.larges_out--;
  p.unasked_until = more ? s.now + kLeaveLasts : 0;
  if (!r.unasked) return;
  r.unasked = false;
  p.unasked_pause = more ? 0 : std::min<std::uint8_t>(2 * p.unasked_pause + 1, kPauseMost);
  p.unasked_skip = p.unasked_pause;
}

bool unasked_leave(State& s, const Partner& p, bool useful) {
  UnaskedLeave* place = nullptr;
  for (UnaskedLeave& leave : s.unasked.leaves) {
    const bool its_own = leave.partner == &p;
    if (its_own) leave = {};
    if (its_own || (!place && s.now >= leave.until)) place = &leave;
  }
  if (!useful || !place || s.pulling.senders > 1) return false;
  *place = {&p, s.now + 2 * kLeaveLasts};
  return true;
}

std::uint32_t unasked_expect(State& s, Pull& pull, const wire::Rndv& rndv) {
  if (rndv.unasked_frames == 0) return 0;
  pull.leave = false;                                         // unless they are of use
  if (rndv.unasked_frames > wire::kGsoBatchFrames) return 0;  // more than a block holds
  const Request& r = *pull.request;
  if (rndv.unasked_unit != pull.unit || pull.shift != 0 || r.xfer_length != r.msg_length) return 0;
  std::size_t running = 0;
  for (Pull* other = s.unasked.running.front(); other; other = s.unasked.running.next(*other)) running++;
  if (running >= kRunningMost) return 0;
  const Partner& p = *pull.partner;
  const std::uint32_t key = key_of(rndv);
  const UnaskedLost lost{p.nic, wire::unasked_magic(s.config.endpoint, p.endpoint), key};
  if (std::find(s.unasked.lost.begin(), s.unasked.lost.end(), lost) != s.unasked.lost.end()) return 0;
  pull.leave = true;
  pull.unasked_key = key;
  s.unasked.running.push_back(pull);
  s.count(Counter::recv_unasked)++;
  return std::min<std::uint32_t>(rndv.unasked_frames, pull.frames);
}

Pull* unasked_find(State& s, NicId nic, std::uint32_t magic, std::uint32_t key) {
  if (!wire::unasked(magic)) return nullptr;
  for (Pull* pull = s.unasked.running.front(); pull; pull = s.unasked.running.next(*pull)) {
    if (unasked_is(s, *pull, magic, key) && pull->partner->nic == nic) return pull;
  }
  // Its RNDV may be on its way.
  const UnaskedLost lost{nic, magic, key};
  if (s.unasked.lost[s.unasked.lost_last] == lost) return nullptr;
  s.unasked.lost_last = (s.unasked.lost_last + 1) % s.unasked.lost.size();
  s.unasked.lost[s.unasked.lost_last] = lost;
  return nullptr;
}

bool unasked_is(const State& s, const Pull& pull, std::uint32_t magic, std::uint32_t key) {
  return pull.unasked_hook.linked() && pull.unasked_key == key &&
         magic == wire::unasked_magic(s.config.endpoint, pull.partner->endpoint);
}

}  // namespace omx::protocol
