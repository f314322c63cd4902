// SPDX-License-Identifier: BSD-3-Clause
// Connecting (protocol.md 3): sessions, first numbers, and what the extension blocks agree on. An incoming
// request is answered without asking the application, and is enough to send back.
#include <algorithm>

#include "protocol/state.h"

namespace omx::protocol {

namespace {

constexpr std::uint8_t kConnectBadKey = 11;

wire::ConnectExt own_extension(const State& s, const Partner& p) {
  wire::ConnectExt ext;
  ext.present = s.config.extension;
  ext.mode = s.config.mode;
  ext.features = wire::kFeatureMark | wire::kFeatureHeaderExt | wire::kFeatureSack | wire::kFeatureProbe;
  if (s.config.checksum) ext.features |= wire::kFeatureChecksum;
  ext.max_frame = s.own_frame;
  ext.pull_frames = 32;
  ext.eager_frames = static_cast<std::uint16_t>(std::min<std::uint32_t>(s.config.eager_frames, 0xFFFF));
  epoch_fill(p, ext);
  return ext;
}

// Adopts what a CONNECT says about the peer's abilities. Values the peer cannot mean are clamped.
void agree(State& s, Partner& p, const wire::ConnectExt& ext) {
  const bool was_extended = p.extended;
  const std::uint32_t was_agreed = p.frame_agreed;
  p.extended = ext.present && s.config.extension;
  if (!p.extended) {
    p.features = 0;
    p.checksum = false;
    p.mode = s.config.mode;
    partner_update_sizes(s, p);
    return;
  }
  p.features = ext.features;
  p.checksum = s.config.checksum && (ext.features & wire::kFeatureChecksum);
  // MX sizes if either side insists on them.
  p.mode =
      s.config.mode == wire::Mode::mxoe || ext.mode == wire::Mode::mxoe ? wire::Mode::mxoe : wire::Mode::omx;
  p.eager_credit = std::max<std::uint16_t>(ext.eager_frames, 1);
  p.peer_pull_frames = std::clamp<std::uint8_t>(ext.pull_frames, 1, 32);
  p.frame_agreed = std::max<std::uint32_t>(std::min(ext.max_frame, s.own_frame), 256);
  if (!was_extended || was_agreed != p.frame_agreed) {
    p.frame_max = std::min(p.frame_agreed, kBaseFrame);
    p.probe_size = 0;
    partner_update_sizes(s, p);
    if (p.frame_max < p.frame_agreed && p.mode == wire::Mode::omx && (p.features & wire::kFeatureProbe))
      probe_start(s, p);
  } else {
    partner_update_sizes(s, p);
  }
}

void transmit(State& s, Partner& p, const wire::Connect& packet) {
  p.announced = packet.target_recv_seqnum_start;
  wire::TxFrame& frame = s.sink.frame_begin(0);
  const auto head = frame_head(s, p, wire::PacketType::connect);
  frame.header_length = static_cast<std::uint32_t>(wire::encode_connect(frame.header, head, packet));
  frame.segment_count = 0;
  s.sink.frame_commit();
}

wire::Connect request_packet(State& s, const Partner& p, std::uint32_t key, std::uint8_t connect_seqnum) {
  wire::Connect packet;
  packet.dst_endpoint = p.endpoint;
  packet.src_endpoint = s.config.endpoint;
  packet.src_dst_peer_index = 0;  // constant: we find peers by MAC (design.md 2)
  packet.src_session = s.config.session;
  packet.key_or_target_session = key;
  packet.target_recv_seqnum_start = p.next_match;
  packet.connect_seqnum = connect_seqnum;
  packet.ext = own_extension(s, p);
  return packet;
}

// --- Numbers with reference peers, which have no epochs ---

// The remote endpoint lives in session `session` and will take `start` as our first number.
void session_adopt(Partner& p, std::uint32_t session, Seqnum start) {
  if (p.true_session != session) p.next_send = p.next_acked = start;
  p.true_session = session;
}

// Whether the peer, in the session that we know, forgot our numbers: it gave us up, which shows in the
// session count (protocol.md 7, last [DO]), or it wants one that we have not used yet, as we took over an
// older announcement.
bool out_of_step(const Partner& p, Seqnum start) {
  const std::uint32_t ahead = seq_diff(start, p.next_send);
  return !seq_same_session(start, p.next_send) || (ahead > 0 && ahead < kSeqSpace / 2);
}

// A request from an instance of the peer that we do not know, or that forgot us.
void request_numbers(State& s, Partner& p, const wire::Connect& packet) {
  const bool known = p.true_session != wire::kUnknownSession || p.back_session != wire::kUnknownSession;
  const bool same = p.true_session == packet.src_session || p.back_session == packet.src_session;
  const bool reset = same && p.connected() && out_of_step(p, packet.target_recv_seqnum_start);
  if ((known && !same) || reset) {
    partner_cleanup(s, p, Cleanup::restarted);
    // It may hold already a number that we announced before the last ones arrived. It does not look again,
    // so another session count only if the numbers differ anyway.
    if (p.announced != p.next_match) partner_renumber(p);
  }
  session_adopt(p, packet.src_session, packet.target_recv_seqnum_start);
  p.back_session = packet.src_session;
}

// A reply; `r` nullptr: to a ping. False: the ping is repeated, as the numbers changed meanwhile.
bool reply_numbers(State& s, Partner& p, const Request* r, const wire::Connect& packet) {
  const std::uint32_t session = packet.key_or_target_session;
  const bool same = p.connected() && p.true_session == session;
  if (same && !out_of_step(p, packet.target_recv_seqnum_start)) return true;
  if (p.connected()) partner_cleanup(s, p, Cleanup::restarted);
  if (r && !seq_same_session(r->seqnum, p.next_match)) {
    // It counts from what our request announced, and would not listen again.
    p.next_match = p.last_acked = r->seqnum;
  } else if (!r && p.announced != p.next_match) {
    partner_renumber(p);
    connect_ping(s, p);
    return false;
  }
  session_adopt(p, session, packet.target_recv_seqnum_start);
  return true;
}

// -----------------------------------------------------------------------------------------------------------

// Whether both ends speak the extension.
bool extended(const State& s, const wire::Connect& packet) {
  return packet.ext.present && s.config.extension;
}

// The reply showed that the two do not count alike yet: asks again with what has changed. The timer goes on
// where a peer never agrees.
void ask_again(State& s, Partner& p, Request* r) {
  constexpr std::uint8_t kRoundsAtOnce = 8;
  if (p.connect_rounds >= kRoundsAtOnce) return;
  p.connect_rounds++;
  if (r)
    connect_transmit(s, *r);
  else if (p.connected())
    connect_ping(s, p);
}

void request_received(State& s, const wire::Head& head, const wire::Connect& packet) {
  s.count(Counter::recv_connect_request)++;
  Partner* p = partner_find(s, head.src, packet.src_endpoint);
  const bool accepted = packet.key_or_target_session == s.config.key;
  if (!p && accepted) p = partner_create(s, head.src, packet.src_endpoint);
  if (accepted && !p) return;  // no memory: the request will be repeated

  if (accepted) {
    p->peer_index = packet.src_dst_peer_index;
    partner_heard(s, *p);
    if (extended(s, packet))
      epochs_meet(s, *p, packet.src_session, packet);
    else
      request_numbers(s, *p, packet);
    agree(s, *p, packet.ext);
  }
  Partner stranger;  // whoever has the wrong key gets an answer and nothing else
  if (!accepted) {
    stranger.nic = head.src;
    stranger.endpoint = packet.src_endpoint;
    stranger.peer_index = packet.src_dst_peer_index;
  }
  Partner& to = accepted ? *p : stranger;
  wire::Connect reply;
  reply.dst_endpoint = packet.src_endpoint;
  reply.src_endpoint = s.config.endpoint;
  reply.src_dst_peer_index = 0;
  reply.src_session = packet.src_session;
  reply.key_or_target_session = s.config.session;
  reply.target_recv_seqnum_start = to.next_match;
  reply.is_reply = true;
  reply.connect_seqnum = packet.connect_seqnum;
  reply.status = accepted ? 0 : kConnectBadKey;
  if (packet.ext.present) reply.ext = own_extension(s, to);
  transmit(s, to, reply);
  s.count(Counter::send_connect_reply)++;
  if (accepted) retransmit_arm(s, *p);
}

void reply_received(State& s, const wire::Head& head, const wire::Connect& packet) {
  s.count(Counter::recv_connect_reply)++;
  Partner* p = partner_find(s, head.src, packet.src_endpoint);
  if (!p || packet.src_session != s.config.session) return;
  const std::uint32_t session = packet.key_or_target_session;

  const bool ping = p->ping_pending && packet.connect_seqnum == p->ping_seqnum;
  Request* r = ping ? nullptr : p->connects.front();
  while (r && r->connect_seqnum != packet.connect_seqnum) r = p->connects.next(*r);
  if (!ping && !r) return;
  const bool same = p->connected() && p->true_session == session;
  if (packet.status != 0) {
    if (r && packet.status == kConnectBadKey) {
      r->queue.unlink();
      request_finish(s, *r, Status::bad_key);
    } else if (ping) {  // the key may be wrong, but this tells who is there
      p->ping_pending = false;
      if (same) {
        partner_heard(s, *p);
      } else {
        partner_cleanup(s, *p, Cleanup::restarted);
      }
    }
    return;
  }
  if (ping) p->ping_pending = false;
  const bool agreed =
      extended(s, packet) ? epochs_meet(s, *p, session, packet) : reply_numbers(s, *p, r, packet);
  p->peer_index = packet.src_dst_peer_index;
  partner_heard(s, *p);
  agree(s, *p, packet.ext);
  if (!agreed) {
    if (extended(s, packet)) ask_again(s, *p, r);
    return;
  }
  p->connect_rounds = 0;
  if (r) {
    r->queue.unlink();
    r->session = session;
    request_finish(s, *r, Status::success);
  }
  retransmit_arm(s, *p);
}

}  // namespace

Expected<Request*, OpError> connect_start(State& s, NicId nic, std::uint8_t endpoint, std::uint32_t key,
                                          std::uint64_t match_info, void* context, bool forgotten) {
  if (endpoint >= s.config.max_endpoints) return tl::make_unexpected(OpError::bad_endpoint_id);
  Partner* p = partner_find(s, nic, endpoint);
  if (!p) p = partner_create(s, nic, endpoint);
  Request* r = p ? request_create(s, RequestKind::connect) : nullptr;
  if (!r) return tl::make_unexpected(OpError::no_resources);
  r->partner = p;
  r->match_info = match_info;
  r->context = context;
  r->user_gone = forgotten;
  r->key = key;
  Request* const handle = forgotten ? nullptr : r;
  if (p->self) {  // at once, and without looking at the key (protocol.md 3.1)
    r->session = s.config.session;
    request_finish(s, *r, Status::success);
    return handle;
  }
  p->key = key;
  r->connect_seqnum = p->connect_seqnum++;
  r->phase = Phase::connecting;
  r->first_sent = s.now;
  p->connects.push_back(*r);
  connect_transmit(s, *r);
  retransmit_arm(s, *p);
  return handle;
}

void connect_transmit(State& s, Request& r) {
  r.last_sent = s.now;
  r.seqnum = r.partner->next_match;
  transmit(s, *r.partner, request_packet(s, *r.partner, r.key, r.connect_seqnum));
  s.count(Counter::send_connect_request)++;
}

void connect_ping(State& s, Partner& p) {
  if (!p.ping_pending) p.ping_seqnum = p.connect_seqnum++;
  p.ping_pending = true;
  transmit(s, p, request_packet(s, p, p.key, p.ping_seqnum));
  s.count(Counter::send_connect_request)++;
}

void connect_received(State& s, const wire::Head& head, wire::Frame frame) {
  wire::Connect packet;
  if (const auto drop = wire::decode_connect(frame, packet); drop != wire::Drop::none)
    return rx_drop(s, drop);
  if (head.src == s.config.nic && packet.src_endpoint == s.config.endpoint) return;  // our own, reflected
  if (packet.is_reply)
    reply_received(s, head, packet);
  else
    request_received(s, head, packet);
}

}  // namespace omx::protocol
