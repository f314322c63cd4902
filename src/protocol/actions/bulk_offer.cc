// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/bulk_offer.h"

#include <algorithm>
#include <optional>

#include "protocol/actions/probe.h"
#include "protocol/state/bulk_awaited.h"
#include "protocol/state/bulk_trust.h"
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
      s.config.bulk.secret ^ (p.nic << 16 | p.endpoint) ^ std::uint64_t{p.session.true_session} << 32;
  for (const std::uint8_t byte : p.bulk.address.ip) hash = (hash ^ byte) * 0x9E3779B97F4A7C15ULL;
  hash = (hash ^ p.bulk.address.port) * 0x9E3779B97F4A7C15ULL;
  hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace

void bulk_announce(State& s, Peer& p, std::uint32_t answer) {
  probe_bulk(s, p, BulkProbe::look, kShortProbe, answer);
}

void bulk_show(State& s, Peer& p) {
  if (!p.bulk.address.present() || s.now < p.bulk.probe_due) return;
  p.bulk.probe_due = s.now + (kProbeEvery << std::min<unsigned>(p.bulk.offers, kOffersMost));
  if (p.bulk.offers < 0xFF) p.bulk.offers++;
  const std::uint32_t cookie = probe_cookie(s, p);
  // The kernel gets the two probes as one GSO batch, and the second one counts. Some NICs announce
  // segmentation and cannot do it: then only the first one arrives, or none.
  probe_bulk(s, p, BulkProbe::by_bulk, bulk_frame(s, p), cookie ^ kFirstOfTwo);
  probe_bulk(s, p, BulkProbe::by_bulk, bulk_frame(s, p), cookie);
  if (p.bulk.offers > kOffersAlone && !p.bulk.batches_fail)
    probe_bulk(s, p, BulkProbe::alone, bulk_frame(s, p), cookie ^ kAlone);
  bulk_announce(s, p);
}

void bulk_offer(State& s, Peer& p) {
  if (!p.bulk.out) bulk_show(s, p);
}

void bulk_probe_received(State& s, Peer& p, const wire::Probe& packet) {
  if (!p.bulk.address.present()) return;
  if (packet.flags & wire::kFlagBulkProbe) {
    bulk_announced(s, p, packet.cookie);
  } else if (packet.is_reply) {
    if (packet.cookie == (probe_cookie(s, p) ^ kAlone)) return bulk_batches_fail(s, p);
    if (s.now < bulk_trusted_from(p, &BulkDistrust::out) || packet.cookie != probe_cookie(s, p)) return;
    bulk_trust_again(s, p, &BulkDistrust::out);
    bulk_out_set(p, true);
    p.bulk.batches_fail = false;
  } else if (packet.size >= bulk_frame(s, p) && s.now >= bulk_trusted_from(p, &BulkDistrust::in)) {
    bulk_trust_again(s, p, &BulkDistrust::in);
    p.bulk.in = true;
    probe_bulk(s, p, BulkProbe::seen, kShortProbe, packet.cookie);
  }
}

void bulk_asked(State& s, Peer& p, const wire::Pull& packet) {
  if (packet.flags & wire::kFlagBulk) bulk_offer(s, p);
  if (packet.flags & wire::kFlagBulkProbe) bulk_show(s, p);
}

}  // namespace omx::protocol
