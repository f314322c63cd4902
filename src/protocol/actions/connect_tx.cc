// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/actions/connect_tx.h"

#include <algorithm>
#include <cassert>

#include "protocol/actions/frames.h"
#include "protocol/counters.h"
#include "protocol/history.h"
#include "protocol/state/generations.h"
#include "protocol/state/history_note.h"
#include "protocol/state/peer.h"
#include "protocol/state/rails.h"
#include "protocol/state/request.h"
#include "protocol/state/sizes.h"
#include "protocol/state/state.h"
#include "wire/codec.h"
#include "wire/frame_io.h"

namespace omx::protocol {

wire::ConnectExt connect_extension(const State& s, const Peer& p) {
  wire::ConnectExt ext;
  ext.present = s.config.extension;
  ext.mode = s.config.mode;
  ext.features = wire::kFeatureMark | wire::kFeatureHeaderExt | wire::kFeatureSack | wire::kFeatureProbe |
                 wire::kFeatureTail | wire::kFeatureUnscheduled | wire::kFeatureAhead | wire::kFeatureSource;
  if (s.config.parks && s.config.mode == wire::Mode::omx) ext.features |= wire::kFeaturePark;
  if (s.config.reliability.marks) ext.features |= wire::kFeatureMarks;
  if (s.config.coalesce) ext.features |= wire::kFeaturePack | wire::kFeatureCoalescePackets;
  if (s.config.bulk.address.present()) {
    ext.features |= wire::kFeatureBulk;
    if (s.config.bulk.gso_frames) ext.features |= wire::kFeatureGsoFrame;
    ext.bulk_address = s.config.bulk.address;
  }
  if (rails_used(s) && p.agreed.intra_node_frame == 0) {
    ext.features |= wire::kFeatureRails;
    ext.rails = s.config.rails;
  }
  if (s.config.checksum) ext.features |= wire::kFeatureChecksum;
  ext.max_frame = peer_frame(s, p);
  ext.pull_frames = p.agreed.intra_node_pull_frames;
  ext.eager_frames = static_cast<std::uint16_t>(std::min<std::uint32_t>(s.config.eager_frames, 0xFFFF));
  generation_fill(p, ext);
  return ext;
}

void connect_packet_send(State& s, Peer& p, const wire::Connect& packet) {
  p.counting.announced = packet.target_recv_seqnum_start;
  p.counting.generation_offered = true;
  wire::TxFrame& frame = frame_begin(s, p, 0);
  const auto head = frame_head(s, p, wire::PacketType::connect);
  frame.header_length = static_cast<std::uint32_t>(wire::encode_connect(frame.header, head, packet));
  frame.segment_count = 0;
  s.sink.frame_commit();
}

namespace {

// Returns whether the instance that the request must not reach may be the one that gets it. To that instance
// the request must not look as if it opened a conversation, so it claims to be in the one that is over.
// Another instance does not know that conversation, says who it is, and is asked again.
bool shuns(const Peer& p, const Request* r) {
  return r && r->shunned != wire::kUnknownSession && !p.connected() &&
         p.counting.peer_generation_session == r->shunned && p.counting.peer_generation != 0;
}

wire::Connect request_packet(State& s, const Peer& p, std::uint32_t key, std::uint8_t connect_seqnum,
                             const Request* r = nullptr) {
  wire::Connect packet;
  packet.dst_endpoint = p.endpoint;
  packet.src_endpoint = s.config.endpoint;
  packet.src_dst_peer_index = 0;  // constant: we find peers by MAC (docs/reference/wire.md 1)
  packet.src_session = s.config.session;
  packet.key_or_target_session = key;
  packet.target_recv_seqnum_start = p.counting.next_match;
  packet.connect_seqnum = connect_seqnum;
  packet.ext = connect_extension(s, p);
  if (shuns(p, r)) packet.ext.peer_generation_in_use = true;
  return packet;
}

}  // namespace

void connect_transmit(State& s, Request& r) {
  assert(r.kind == RequestKind::connect);
  assert(r.phase == Phase::connecting);
  r.last_sent = s.now;
  r.seqnum = r.peer->counting.next_match;
  connect_packet_send(s, *r.peer, request_packet(s, *r.peer, r.key, r.connect_seqnum, &r));
  s.count(Counter::send_connect_request)++;
  history_note(s, Happened::connect_sent, r.peer, r.match_info);
}

void connect_ping(State& s, Peer& p) {
  assert(!p.self);
  if (!p.liveness.ping_pending && p.tx.connects.empty()) p.counting.acked_since_asked = 0;
  p.liveness.ping_repeated = p.liveness.ping_pending;  // then it is not known which ping is answered
  if (!p.liveness.ping_pending) p.liveness.ping_seqnum = p.session.connect_seqnum++;
  p.liveness.ping_sent = s.now;
  p.liveness.ping_pending = true;
  connect_packet_send(s, p, request_packet(s, p, p.session.key, p.liveness.ping_seqnum));
  s.count(Counter::send_connect_request)++;
}

void connect_ask(State& s, Peer& p) {
  if (s.now < p.liveness.ping_due) return;
  connect_ping(s, p);
  p.liveness.ping_due = s.now + s.config.reliability.keepalive_delay;
}

void trip_ask(State& s, Peer& p) {
  if (p.agreed.extended && s.now >= p.liveness.ping_sent + s.config.reliability.keepalive_delay)
    connect_ping(s, p);
}

void generations_doubt(State& s, Peer& p) {
  if (p.agreed.extended && p.connected()) connect_ask(s, p);
}

}  // namespace omx::protocol
