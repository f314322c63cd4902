// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/events/probe_received.h"

#include "protocol/actions/bulk_offer.h"
#include "protocol/actions/probe.h"
#include "protocol/counters.h"
#include "protocol/events/rails_received.h"
#include "protocol/events/received.h"
#include "protocol/state/news.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"

namespace omx::protocol {

void probe_received(State& s, const wire::Head& head, wire::Frame frame) {
  wire::Probe packet;
  if (const auto drop = wire::decode_probe(frame, packet); drop != wire::Drop::none) return rx_drop(s, drop);
  Peer* p = peer_find(s, head.src, packet.src_endpoint);
  if (!p || !p->agreed.extended) {
    s.count(Counter::drop_unknown_peer)++;
    return;
  }
  if (!rx_checksum_ok(s, p, frame)) return;
  if (packet.session != s.config.session) {
    s.count(Counter::drop_bad_session)++;
    return;
  }
  const bool announces = (packet.flags & (wire::kFlagBulkProbe | wire::kFlagRail)) == wire::kFlagBulkProbe;
  s.count(announces ? Counter::recv_announcement : Counter::recv_probe)++;
  peer_heard(s, *p);
  if (packet.flags & wire::kFlagRail) {
    if (p->rails) rails_probe_received(s, *p, packet, frame.size());
  } else if (packet.flags & (wire::kFlagBulk | wire::kFlagBulkProbe)) {
    if (frame.size() >= packet.size) bulk_probe_received(s, *p, packet);
  } else if (!packet.is_reply) {
    // Answers only up to our own size: a reply is never larger than the probe that reached us.
    if (packet.size > peer_frame(s, *p) || frame.size() < packet.size) return;
    if (packet.size > p->agreed.frame_in && packet.size <= p->agreed.frame_agreed) {
      p->agreed.frame_in = packet.size;
      peer_update_sizes(s, *p);
    }
    probe_reply(s, *p, packet);
    // Our probe follows our answer to the peer's connect, so it may have arrived before the peer knew us.
    if (p->liveness.probe_size && p->agreed.probe_tries == 1) {
      p->liveness.probe_due = s.now;
      probe_tick(s, *p);
    }
  } else if (packet.size > p->agreed.frame_max && packet.size <= p->agreed.frame_agreed &&
             frame.size() >= packet.size) {
    probe_proven(s, *p, packet.size);
  }
}

}  // namespace omx::protocol
