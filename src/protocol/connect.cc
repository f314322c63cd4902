// SPDX-License-Identifier: BSD-3-Clause
// Connecting (docs/spec/protocol.md 3): sessions, first numbers, and what the extension blocks agree on. An
// incoming request is answered without asking the application, and is enough to send back.
#include <algorithm>

#include "protocol/epochs.h"
#include "protocol/state.h"
#include "protocol/watch.h"

namespace omx::protocol {

namespace {

constexpr std::uint8_t kConnectBadKey = 11;

wire::ConnectExt own_extension(const State& s, const Partner& p) {
  wire::ConnectExt ext;
  ext.present = s.config.extension;
  ext.mode = s.config.mode;
  ext.features = wire::kFeatureMark | wire::kFeatureHeaderExt | wire::kFeatureSack | wire::kFeatureProbe |
                 wire::kFeatureTail | wire::kFeatureUnasked | wire::kFeatureAhead;
  if (s.config.parks && s.config.mode == wire::Mode::omx) ext.features |= wire::kFeaturePark;
  if (s.config.pack) ext.features |= wire::kFeaturePack | wire::kFeatureShare;
  if (s.config.lane.present()) {
    ext.features |= wire::kFeatureLane;
    ext.lane = s.config.lane;
  }
  if (rails_used(s) && p.near_frame == 0) {
    ext.features |= wire::kFeatureRails;
    ext.rails = s.config.rails;
  }
  if (s.config.checksum) ext.features |= wire::kFeatureChecksum;
  ext.max_frame = partner_frame(s, p);
  ext.pull_frames = p.near_pull_frames;
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
    p.frame_agreed = p.frame_max = p.frame_in = p.probe_size = 0;
    p.probe_wanted = false;
    p.features = 0;
    p.checksum = false;
    p.mode = s.config.mode;
    lane_forget(s, p);
    rails_forget(s, p);
    partner_update_sizes(s, p);
    return;
  }
  p.features = ext.features;
  p.mode_told = ext.mode;
  p.checksum = s.config.checksum && (ext.features & wire::kFeatureChecksum);
  // MX sizes if either side insists on them.
  p.mode =
      s.config.mode == wire::Mode::mxoe || ext.mode == wire::Mode::mxoe ? wire::Mode::mxoe : wire::Mode::omx;
  p.eager_credit = std::max<std::uint16_t>(ext.eager_frames, 1);
  p.peer_pull_frames = std::clamp<std::uint8_t>(ext.pull_frames, 1, 32);
  lane_agree(s, p, ext);
  rails_agree(s, p, ext);
  p.frame_agreed = std::max<std::uint32_t>(std::min(ext.max_frame, partner_frame(s, p)), 256);
  if (!was_extended || was_agreed != p.frame_agreed) {
    p.frame_max = p.near_frame ? p.frame_agreed : std::min(p.frame_agreed, s.config.base_frame);
    p.frame_in = p.probe_size = 0;
    p.probe_wanted = false;
    partner_update_sizes(s, p);
    if (p.frame_max < p.frame_agreed && p.mode == wire::Mode::omx && (p.features & wire::kFeatureProbe))
      probe_at_connect(s, p);
  } else {
    partner_update_sizes(s, p);
  }
}

void transmit(State& s, Partner& p, const wire::Connect& packet) {
  p.announced = packet.target_recv_seqnum_start;
  p.epoch_offered = true;
  wire::TxFrame& frame = frame_begin(s, p, 0);
  const auto head = frame_head(s, p, wire::PacketType::connect);
  frame.header_length = static_cast<std::uint32_t>(wire::encode_connect(frame.header, head, packet));
  frame.segment_count = 0;
  s.sink.frame_commit();
}

// Whether the instance that the request shall not reach may be the one that gets it. To that one the request
// must not look as if it opened a conversation, so it claims to be in the one that is over; another instance
// does not know that one, says who it is, and is asked again.
bool shuns(const Partner& p, const Request* r) {
  return r && r->shunned != wire::kUnknownSession && !p.connected() && p.peer_epoch_session == r->shunned &&
         p.peer_epoch != 0;
}

wire::Connect request_packet(State& s, const Partner& p, std::uint32_t key, std::uint8_t connect_seqnum,
                             const Request* r = nullptr) {
  wire::Connect packet;
  packet.dst_endpoint = p.endpoint;
  packet.src_endpoint = s.config.endpoint;
  packet.src_dst_peer_index = 0;  // constant: we find peers by MAC (docs/reference/wire.md 1)
  packet.src_session = s.config.session;
  packet.key_or_target_session = key;
  packet.target_recv_seqnum_start = p.next_match;
  packet.connect_seqnum = connect_seqnum;
  packet.ext = own_extension(s, p);
  if (shuns(p, r)) packet.ext.peer_epoch_in_use = true;
  return packet;
}

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

// Copies to `answer`, for a peer whose key is wrong, how we count with the partner that it was. It may hold a
// relation that we have given up, and would hear of no other way to learn that.
void tell_counts(State& s, Partner& p, const wire::Connect& packet, Partner& answer) {
  const bool known = p.peer_epoch_session == packet.src_session;
  if (known && extended(s, packet)) epochs_meet(s, p, packet.src_session, packet, false);
  answer.next_match = p.next_match;
  answer.epoch = p.epoch;
  if (!known) return;
  answer.peer_epoch = p.peer_epoch;
  answer.peer_epoch_in_use = p.peer_epoch_in_use;
}

// Whether a request comes from an instance before the one that we are connected to: it uses a count of ours
// that is over, or that an earlier instance of us had.
bool outdated(const State& s, const Partner& p, const wire::Connect& packet) {
  return extended(s, packet) && p.connected() && p.known_otherwise(packet.src_session) &&
         packet.ext.peer_epoch != 0 && packet.ext.peer_epoch != p.epoch;
}

// Whether a request comes from an instance that we knew before and that uses a count that we offered it. It
// may know no key, as it never had to connect; when it took up the count, that it said so may have been lost.
// The answer to a wrong key offers nothing, though it names the count.
bool uses_our_count(const State& s, const Partner& p, const wire::Connect& packet) {
  return extended(s, packet) && p.peer_epoch_session == packet.src_session && p.peer_epoch != 0 &&
         p.epoch_offered && packet.ext.peer_epoch_in_use && packet.ext.peer_epoch == p.epoch;
}

void request_received(State& s, const wire::Head& head, const wire::Connect& packet) {
  s.count(Counter::recv_connect_request)++;
  Partner* p = partner_find(s, head.src, packet.src_endpoint);
  const bool right_key = packet.key_or_target_session == s.config.key;
  // The answer shows our present count: should the instance live after all, it asks again with that.
  const bool late = p && outdated(s, *p, packet);
  const bool accepted = p ? (right_key || uses_our_count(s, *p, packet)) && !late : right_key;
  if (!p && accepted) p = partner_create(s, head.src, packet.src_endpoint);
  if (right_key && !p) return;  // no memory: the request will be repeated

  if (accepted) {
    p->peer_index = packet.src_dst_peer_index;
    partner_heard(s, *p);
    if (extended(s, packet))
      epochs_meet(s, *p, packet.src_session, packet);
    else
      reference_request(s, *p, packet);
    agree(s, *p, packet.ext);
    partner_sizes_check(s, *p);
    if (p->connected()) watch_opened(s, *p);
  }
  Partner refused;  // whoever is late or has the wrong key gets an answer that changes nothing ...
  if (!accepted) {
    refused.nic = head.src;
    refused.endpoint = packet.src_endpoint;
    refused.peer_index = packet.src_dst_peer_index;
    if (p) tell_counts(s, *p, packet, refused);  // ... but shows whether we count alike
  }
  Partner& to = accepted ? *p : refused;
  wire::Connect reply;
  reply.dst_endpoint = packet.src_endpoint;
  reply.src_endpoint = s.config.endpoint;
  reply.src_dst_peer_index = 0;
  reply.src_session = packet.src_session;
  reply.key_or_target_session = s.config.session;
  reply.target_recv_seqnum_start = to.next_match;
  reply.is_reply = true;
  reply.connect_seqnum = packet.connect_seqnum;
  reply.status = right_key ? 0 : kConnectBadKey;
  if (packet.ext.present) reply.ext = own_extension(s, to);
  transmit(s, to, reply);
  s.count(Counter::send_connect_reply)++;
  // Or a late request made us take the instance before for the present one: that one is asked.
  if (late) epochs_doubt(s, *p);
  if (!accepted) return;
  reference_connect_back(s, *p);
  retransmit_arm(s, *p);
}

// The answer to a ping or connect that was refused: nothing is adopted, but it tells who is there, and
// whether that is still who we know. The key may be none of ours: an instance that connected to us is pinged
// without.
void refused_by(State& s, Partner& p, const wire::Connect& packet) {
  const std::uint32_t session = packet.key_or_target_session;
  const bool same = p.connected() && p.true_session == session;
  // By the same extended instance epochs_meet has done what there is to do. That the two do not agree yet may
  // only mean that its connect is not complete, or that the answer is late.
  const bool agreed = extended(s, packet) ? same && epochs_meet(s, p, session, packet, false)
                                          : reference_in_step(p, session, packet.target_recv_seqnum_start);
  if (agreed) {
    partner_heard(s, p);
    send_pump(s, p);
  } else if (p.connected() && !(same && extended(s, packet))) {
    partner_cleanup(s, p, Cleanup::restarted);
  }
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
  if (packet.status != 0) {
    if (packet.status != kConnectBadKey) return;
    if (ping) p->ping_pending = false;
    if (r) connect_fail(s, *p, *r, Status::bad_key);
    // A wrong key of the application's says nothing about another instance.
    if (ping || (p->connected() && p->true_session == session)) refused_by(s, *p, packet);
    return;
  }
  if (r && r->shunned == session) {  // the one that was given up
    partner_heard(s, *p);
    return connect_shunned(s, *p, *r);
  }
  if (ping)
    p->ping_pending = false;
  else
    p->key = r->key;
  const bool agreed =
      extended(s, packet) ? epochs_meet(s, *p, session, packet) : reference_reply(s, *p, r, packet);
  p->peer_index = packet.src_dst_peer_index;
  partner_heard(s, *p);
  // Longer than that one of the two did not run, or else it would have been repeated.
  if (r && r->resends == 0)
    p->trip.measured(s.now, std::min(s.now - r->last_sent, s.config.resend_delay_extended));
  // A far partner is learnt by doubling; one that did not run for long is no far one.
  if (ping && !p->ping_repeated)
    p->trip.told(s.now, std::min(s.now - p->ping_sent,
                                 std::max(s.config.resend_delay_extended, 2 * p->trip.patience())));
  agree(s, *p, packet.ext);
  if (!agreed) {
    if (extended(s, packet)) ask_again(s, *p, r);
    return;
  }
  p->connect_rounds = 0;
  if (r) {
    r->queue.unlink();
    r->session = session;
    r->conversation = p->conversation;
    watch_answered(s, *p, *r, session);
    request_finish(s, *r, Status::success);
  }
  partner_sizes_check(s, *p);
  send_pump(s, *p);
  retransmit_arm(s, *p);
}

}  // namespace

Expected<Request*, OpError> connect_start(State& s, NicId nic, std::uint8_t endpoint, std::uint32_t key,
                                          std::uint64_t match_info, void* context, bool forgotten,
                                          bool hidden, std::uint32_t shunned) {
  if (endpoint >= s.config.max_endpoints) return tl::make_unexpected(OpError::bad_endpoint_id);
  Partner* p = partner_find(s, nic, endpoint);
  if (!p) p = partner_create(s, nic, endpoint);
  Request* r = p ? request_create(s, RequestKind::connect) : nullptr;
  if (!r) return tl::make_unexpected(OpError::no_resources);
  r->partner = p;
  r->match_info = match_info;
  r->context = context;
  r->user_gone = forgotten;
  r->hidden = hidden;
  r->key = key;
  r->shunned = shunned;
  r->timeout = std::min(r->timeout, s.config.connect_timeout);
  Request* const handle = forgotten ? nullptr : r;
  if (p->self) {  // at once, and without looking at the key (docs/spec/protocol.md 3.1)
    r->session = s.config.session;
    r->conversation = p->conversation;
    request_finish(s, *r, Status::success);
    return handle;
  }
  if (p->connects.empty() && !p->ping_pending) p->acked_since_asked = 0;
  r->connect_seqnum = p->connect_seqnum++;
  r->phase = Phase::connecting;
  r->first_sent = s.now;
  p->connects.push_back(*r);
  connect_transmit(s, *r);
  retransmit_arm(s, *p);
  return handle;
}

namespace {

// The peer may have taken up what `r`, the last request, offered.
void count_anew(State& s, Partner& p, const Request& r) {
  const bool last = p.connects.empty() || (p.connects.front() == &r && p.connects.back() == &r);
  if (s.config.extension && !p.connected() && last) partner_renumber(p);
}

}  // namespace

void connect_in_vain(State& s, Partner& p, const Request& r) {
  count_anew(s, p, r);
  if (p.last_heard <= r.first_sent) s.silent = &p;
}

bool connect_refused(State& s, wire::Frame frame) {
  wire::Head head;
  wire::Connect packet;
  if (wire::decode_head(frame, head) != wire::Drop::none || head.type != wire::PacketType::connect ||
      wire::decode_connect(frame, packet) != wire::Drop::none)
    return false;
  if (packet.is_reply || head.src != s.config.nic || packet.src_endpoint != s.config.endpoint ||
      packet.src_session != s.config.session)
    return false;
  Partner* p = partner_find(s, head.dst, packet.dst_endpoint);
  Request* r = p ? p->connects.front() : nullptr;
  while (r && (r->connect_seqnum != packet.connect_seqnum || r->key != packet.key_or_target_session))
    r = p->connects.next(*r);
  if (!r) return false;
  count_anew(s, *p, *r);
  connect_fail(s, *p, *r, Status::endpoint_closed);
  return true;
}

void connect_transmit(State& s, Request& r) {
  r.last_sent = s.now;
  r.seqnum = r.partner->next_match;
  transmit(s, *r.partner, request_packet(s, *r.partner, r.key, r.connect_seqnum, &r));
  s.count(Counter::send_connect_request)++;
  history_note(s, Happened::connect_sent, r.partner, r.match_info);
}

void connect_ping(State& s, Partner& p) {
  if (!p.ping_pending && p.connects.empty()) p.acked_since_asked = 0;
  p.ping_repeated = p.ping_pending;  // which one is answered is not known then
  if (!p.ping_pending) p.ping_seqnum = p.connect_seqnum++;
  p.ping_sent = s.now;
  p.ping_pending = true;
  transmit(s, p, request_packet(s, p, p.key, p.ping_seqnum));
  s.count(Counter::send_connect_request)++;
}

void connect_ask(State& s, Partner& p) {
  if (s.now < p.ping_due) return;
  connect_ping(s, p);
  p.ping_due = s.now + s.config.keepalive_delay;
}

void connect_received(State& s, const wire::Head& from, wire::Frame frame) {
  wire::Connect packet;
  if (const auto drop = wire::decode_connect(frame, packet); drop != wire::Drop::none)
    return rx_drop(s, drop);
  wire::Head head = from;
  if (rails_used(s) && !rails_connect(s, head, packet)) [[unlikely]]
    return nack_lib_send(s, from, frame, packet.src_endpoint, packet.seqnum, wire::NackCode::endpoint_closed);
  if (head.src == s.config.nic && packet.src_endpoint == s.config.endpoint) return;  // our own, reflected
  // A peer does not lose its extension while its session lasts: what says so is damaged.
  const Partner* p = partner_find(s, head.src, packet.src_endpoint);
  const std::uint32_t session = packet.is_reply ? packet.key_or_target_session : packet.src_session;
  if (p && p->extended && p->true_session == session && !packet.ext.present)
    return rx_drop(s, wire::Drop::bad_checksum);
  if (packet.is_reply)
    reply_received(s, head, packet);
  else
    request_received(s, head, packet);
}

}  // namespace omx::protocol
