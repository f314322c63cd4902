// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/lane_show.h"

#include <algorithm>
#include <optional>

#include "protocol/actions/probe.h"
#include "protocol/state/lane.h"
#include "protocol/state/lane_awaited.h"
#include "protocol/state/peer.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

namespace {

constexpr TimeNs kProbeEvery = 10 * kMillisecond;
constexpr unsigned kOffersMost = 7;  // doublings of kProbeEvery
constexpr std::uint32_t kShortProbe = 64;
// Marks in the cookie of the first of two probes, and of one that is sent alone.
constexpr std::uint32_t kFirstOfTwo = 1, kAlone = 2;
constexpr unsigned kOffersAlone = 3;  // after so many pairs without an answer one is sent alone, too

// Returns a cookie that only an endpoint reached at the announced address learns. So a peer cannot direct
// data to a host that did not ask for them.
std::uint32_t probe_cookie(const State& s, const Peer& p) {
  std::uint64_t hash =
      s.config.lane_secret ^ (p.nic << 16 | p.endpoint) ^ std::uint64_t{p.session.true_session} << 32;
  for (const std::uint8_t byte : p.bulk.lane.ip) hash = (hash ^ byte) * 0x9E3779B97F4A7C15ULL;
  hash = (hash ^ p.bulk.lane.port) * 0x9E3779B97F4A7C15ULL;
  hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace

void lane_announce(State& s, Peer& p, std::uint32_t answer) {
  probe_lane(s, p, LaneProbe::look, kShortProbe, answer);
}

void lane_show(State& s, Peer& p) {
  if (!p.bulk.lane.present() || s.now < p.bulk.lane_probe_due) return;
  p.bulk.lane_probe_due = s.now + (kProbeEvery << std::min<unsigned>(p.bulk.lane_offers, kOffersMost));
  if (p.bulk.lane_offers < 0xFF) p.bulk.lane_offers++;
  const std::uint32_t cookie = probe_cookie(s, p);
  // The kernel gets the two probes as one GSO batch, and the second one counts. Some NICs announce
  // segmentation and cannot do it: then only the first one arrives, or none.
  probe_lane(s, p, LaneProbe::by_lane, lane_frame(s, p), cookie ^ kFirstOfTwo);
  probe_lane(s, p, LaneProbe::by_lane, lane_frame(s, p), cookie);
  if (p.bulk.lane_offers > kOffersAlone && !p.bulk.trains_fail)
    probe_lane(s, p, LaneProbe::alone, lane_frame(s, p), cookie ^ kAlone);
  lane_announce(s, p);
}

void lane_offer(State& s, Peer& p) {
  if (!p.bulk.lane_out) lane_show(s, p);
}

void lane_probe_received(State& s, Peer& p, const wire::Probe& packet) {
  if (!p.bulk.lane.present()) return;
  if (packet.flags & wire::kFlagLaneProbe) {
    lane_announced(s, p, std::nullopt, packet.cookie);
  } else if (packet.is_reply) {
    if (packet.cookie == (probe_cookie(s, p) ^ kAlone)) return lane_trains_fail(s, p);
    if (s.now < p.bulk.lane_out_trust.from || packet.cookie != probe_cookie(s, p)) return;
    lane_trust_again(s, p.bulk.lane_out_trust);
    lane_out_set(p, true);
    p.bulk.trains_fail = false;
  } else if (packet.size >= lane_frame(s, p) && s.now >= p.bulk.lane_in_trust.from) {
    lane_trust_again(s, p.bulk.lane_in_trust);
    p.bulk.lane_in = true;
    probe_lane(s, p, LaneProbe::seen, kShortProbe, packet.cookie);
  }
}

void lane_asked(State& s, Peer& p, const wire::Pull& packet) {
  if (packet.flags & wire::kFlagLane) lane_offer(s, p);
  if (packet.flags & wire::kFlagLaneProbe) lane_show(s, p);
}

}  // namespace omx::protocol
