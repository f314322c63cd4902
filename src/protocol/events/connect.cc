// SPDX-License-Identifier: BSD-3-Clause
// Connecting (docs/spec/protocol.md 3): sessions, first numbers, and what the extension blocks agree on. The
// engine answers an incoming request without asking the application. The request is enough to send to that
// peer.
#include "protocol/events/connect.h"

#include <algorithm>

#include "protocol/actions/completion.h"
#include "protocol/actions/connect_agree.h"
#include "protocol/actions/connect_start.h"
#include "protocol/actions/connect_tx.h"
#include "protocol/actions/nack_tx.h"
#include "protocol/actions/resend_timer.h"
#include "protocol/actions/send.h"
#include "protocol/actions/watch.h"
#include "protocol/counters.h"
#include "protocol/events/cleanup.h"
#include "protocol/events/generations_meet.h"
#include "protocol/events/legacy_connect.h"
#include "protocol/events/rails_received.h"
#include "protocol/events/received.h"
#include "protocol/state/legacy.h"
#include "protocol/state/news.h"
#include "protocol/state/peer.h"
#include "protocol/state/peers.h"
#include "protocol/state/rails.h"
#include "protocol/state/request.h"
#include "protocol/state/state.h"
#include "protocol/types.h"

namespace omx::protocol {

namespace {

constexpr std::uint8_t kConnectBadKey = 11;

// Returns whether both ends speak the extension.
bool extended(const State& s, const wire::Connect& packet) {
  return packet.ext.present && s.config.extension;
}

// Asks again with the changed numbers when a reply shows that the two ends do not count alike yet. If the
// peer never agrees, only the timer repeats the request.
void ask_again(State& s, Peer& p, Request* r) {
  constexpr std::uint8_t kRoundsAtOnce = 8;
  if (p.counting.connect_rounds >= kRoundsAtOnce) return;
  p.counting.connect_rounds++;
  if (r)
    connect_transmit(s, *r);
  else if (p.connected())
    connect_ping(s, p);
}

// Copies our counts with the former peer to `answer`, the reply to a wrong key. The sender may hold a
// relation that we gave up, and learns that only here.
void tell_counts(State& s, Peer& p, const wire::Connect& packet, Peer& answer) {
  const bool known = p.counting.peer_generation_session == packet.src_session;
  if (known && extended(s, packet)) generations_meet(s, p, packet.src_session, packet, false);
  answer.counting.next_match = p.counting.next_match;
  answer.counting.generation = p.counting.generation;
  if (!known) return;
  answer.counting.peer_generation = p.counting.peer_generation;
  answer.counting.peer_generation_in_use = p.counting.peer_generation_in_use;
}

// Returns whether a request comes from an instance before the connected one. Such a request names a counter
// generation of ours that is over or belonged to an earlier instance of us. Or it names none, as the first
// requests of an instance do, and its sender is the instance that had the last conversation.
bool outdated(const State& s, const Peer& p, const wire::Connect& packet) {
  if (!extended(s, packet) || !p.connected() || !p.known_otherwise(packet.src_session)) return false;
  const std::uint32_t named = packet.ext.peer_generation;
  return named != 0 ? named != p.counting.generation : packet.src_session == p.session.ended_session;
}

// Returns whether a request comes from a known instance that uses a counter generation we offered. The
// instance may know no key, because it never had to connect. Its message that it adopted the generation may
// have been lost. The answer to a wrong key names the generation but offers nothing.
bool uses_our_count(const State& s, const Peer& p, const wire::Connect& packet) {
  return extended(s, packet) && p.counting.peer_generation_session == packet.src_session &&
         p.counting.peer_generation != 0 && p.counting.generation_offered &&
         packet.ext.peer_generation_in_use && packet.ext.peer_generation == p.counting.generation;
}

void request_received(State& s, const wire::Head& head, const wire::Connect& packet) {
  s.count(Counter::recv_connect_request)++;
  Peer* p = peer_find(s, head.src, packet.src_endpoint);
  const bool right_key = packet.key_or_target_session == s.config.key;
  // The answer shows our present counter generation. If that instance is alive after all, it asks again with
  // it.
  const bool late = p && outdated(s, *p, packet);
  const bool accepted = p ? (right_key || uses_our_count(s, *p, packet)) && !late : right_key;
  if (!p && accepted) p = peer_create(s, head.src, packet.src_endpoint);
  if (right_key && !p) return;  // no memory: the request will be repeated

  if (accepted) {
    p->session.peer_index = packet.src_dst_peer_index;
    peer_heard(s, *p);
    if (extended(s, packet))
      generations_meet(s, *p, packet.src_session, packet);
    else
      legacy_request(s, *p, packet);
    connect_agree(s, *p, packet.ext);
    peer_sizes_check(s, *p);
    if (p->connected()) watch_opened(s, *p);
  }
  Peer refused;  // stands for a sender that is late or has the wrong key: the answer changes nothing ...
  if (!accepted) {
    refused.nic = head.src;
    refused.endpoint = packet.src_endpoint;
    refused.session.peer_index = packet.src_dst_peer_index;
    if (p) tell_counts(s, *p, packet, refused);  // ... but shows whether we count alike
  }
  Peer& to = accepted ? *p : refused;
  wire::Connect reply;
  reply.dst_endpoint = packet.src_endpoint;
  reply.src_endpoint = s.config.endpoint;
  reply.src_dst_peer_index = 0;
  reply.src_session = packet.src_session;
  reply.key_or_target_session = s.config.session;
  reply.target_recv_seqnum_start = to.counting.next_match;
  reply.is_reply = true;
  reply.connect_seqnum = packet.connect_seqnum;
  reply.status = right_key ? 0 : kConnectBadKey;
  if (packet.ext.present) reply.ext = connect_extension(s, to);
  connect_packet_send(s, to, reply);
  s.count(Counter::send_connect_reply)++;
  // Perhaps a late request made us take an earlier instance for the present one, so ask that one.
  if (late) generations_doubt(s, *p);
  if (!accepted) return;
  legacy_connect_back(s, *p);
  retransmit_arm(s, *p);
}

// Handles the refusal of a ping or connect. Nothing is adopted, but the refusal shows whether the same
// instance is still there. Our key may be wrong: an instance that connected to us is pinged without a key.
void refused_by(State& s, Peer& p, const wire::Connect& packet) {
  const std::uint32_t session = packet.key_or_target_session;
  const bool same = p.connected() && p.session.true_session == session;
  // For the same extended instance generations_meet() has done what is necessary. Disagreement may only mean
  // that the instance's connect is incomplete or that the answer is late.
  const bool agreed = extended(s, packet) ? same && generations_meet(s, p, session, packet, false)
                                          : legacy_in_step(p, session, packet.target_recv_seqnum_start);
  if (agreed) {
    peer_heard(s, p);
    send_pump(s, p);
  } else if (p.connected() && !(same && extended(s, packet))) {
    peer_cleanup(s, p, Cleanup::restarted);
  }
}

void reply_received(State& s, const wire::Head& head, const wire::Connect& packet) {
  s.count(Counter::recv_connect_reply)++;
  Peer* p = peer_find(s, head.src, packet.src_endpoint);
  if (!p || packet.src_session != s.config.session) return;
  const std::uint32_t session = packet.key_or_target_session;

  const bool ping = p->liveness.ping_pending && packet.connect_seqnum == p->liveness.ping_seqnum;
  Request* r = ping ? nullptr : p->tx.connects.front();
  while (r && r->connect_seqnum != packet.connect_seqnum) r = p->tx.connects.next(*r);
  if (!ping && !r) return;
  if (packet.status != 0) {
    if (packet.status != kConnectBadKey) return;
    if (ping) p->liveness.ping_pending = false;
    if (r) connect_fail(s, *p, *r, Status::bad_key);
    // A wrong key from the application says nothing about another instance.
    if (ping || (p->connected() && p->session.true_session == session)) refused_by(s, *p, packet);
    return;
  }
  if (r && r->shunned == session) {  // the instance that was given up
    peer_heard(s, *p);
    return connect_shunned(s, *p, *r);
  }
  if (ping)
    p->liveness.ping_pending = false;
  else
    p->session.key = r->key;
  const bool agreed =
      extended(s, packet) ? generations_meet(s, *p, session, packet) : legacy_reply(s, *p, r, packet);
  p->session.peer_index = packet.src_dst_peer_index;
  peer_heard(s, *p);
  // The request would have been repeated unless one of the two ends did not run for longer than that.
  if (r && r->resends == 0)
    p->tx.trip.measured(s.now, std::min(s.now - r->last_sent, s.config.reliability.resend_delay_extended));
  // The round trip to a far peer is learnt by doubling. A far longer time shows only that the peer did not
  // run.
  if (ping && !p->liveness.ping_repeated)
    p->tx.trip.told(
        s.now, std::min(s.now - p->liveness.ping_sent,
                        std::max(s.config.reliability.resend_delay_extended, 2 * p->tx.trip.patience())));
  connect_agree(s, *p, packet.ext);
  if (!agreed) {
    if (extended(s, packet)) ask_again(s, *p, r);
    return;
  }
  p->counting.connect_rounds = 0;
  if (r) {
    r->queue.unlink();
    r->session = session;
    r->conversation = p->session.conversation;
    watch_answered(s, *p, *r, session);
    request_finish(s, *r, Status::success);
  }
  peer_sizes_check(s, *p);
  send_pump(s, *p);
  retransmit_arm(s, *p);
}

}  // namespace

bool connect_refused(State& s, wire::Frame frame) {
  wire::Head head;
  wire::Connect packet;
  if (wire::decode_head(frame, head) != wire::Drop::none || head.type != wire::PacketType::connect ||
      wire::decode_connect(frame, packet) != wire::Drop::none)
    return false;
  if (packet.is_reply || head.src != s.config.nic || packet.src_endpoint != s.config.endpoint ||
      packet.src_session != s.config.session)
    return false;
  Peer* p = peer_find(s, head.dst, packet.dst_endpoint);
  Request* r = p ? p->tx.connects.front() : nullptr;
  while (r && (r->connect_seqnum != packet.connect_seqnum || r->key != packet.key_or_target_session))
    r = p->tx.connects.next(*r);
  if (!r) return false;
  connect_renumber(s, *p, *r);
  connect_fail(s, *p, *r, Status::endpoint_closed);
  return true;
}

void connect_received(State& s, const wire::Head& from, wire::Frame frame) {
  wire::Connect packet;
  if (const auto drop = wire::decode_connect(frame, packet); drop != wire::Drop::none)
    return rx_drop(s, drop);
  wire::Head head = from;
  if (rails_used(s) && !rails_connect(s, head, packet)) [[unlikely]]
    return nack_lib_send(s, from, frame, packet.src_endpoint, packet.seqnum, wire::NackCode::endpoint_closed);
  if (head.src == s.config.nic && packet.src_endpoint == s.config.endpoint) return;  // our own, reflected
  // A peer keeps its extension while its session lasts. A packet that says otherwise is damaged.
  const Peer* p = peer_find(s, head.src, packet.src_endpoint);
  const std::uint32_t session = packet.is_reply ? packet.key_or_target_session : packet.src_session;
  if (p && p->agreed.extended && p->session.true_session == session && !packet.ext.present)
    return rx_drop(s, wire::Drop::bad_checksum);
  if (packet.is_reply)
    reply_received(s, head, packet);
  else
    request_received(s, head, packet);
}

}  // namespace omx::protocol
